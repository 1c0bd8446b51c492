import fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { startInNode } from "../../src/node/platform.js";
import { describeSandbox } from "../../src/sandbox/start.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { parseState, stateText } from "../../src/store/state-format.js";
import { runs } from "../support/property-seed.js";
import { asked } from "../support/send.js";

/** The bytes of a state after three requests. */
function savedState(): Buffer {
  const sandbox = startInNode(bundledScenarios.active, { name: "active" });
  for (let n = 0; n < 3; n += 1) handle(sandbox, asked({ path: `/v1/${n}` }));
  return Buffer.from(stateText({ own: describeSandbox(sandbox) }));
}

const read = (bytes: Uint8Array): string => {
  try {
    return JSON.stringify(parseState(Buffer.from(bytes).toString("utf8"), "state.json"));
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const damage = fc.record({
  how: fc.constantFrom("flip", "cut", "drop", "swap", "double"),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  size: fc.integer({ min: 1, max: 600 }),
});

test("a damaged state is the same state or unreadable, and never another state", () => {
  const whole = savedState();
  const state = read(whole);
  const seen = new Map<string, number>();
  const damaged = ({ how, at, size }: { how: string; at: number; size: number }): Buffer => {
    const from = Math.floor(at * whole.length);
    const to = Math.min(whole.length, from + size);
    const bytes = Buffer.from(whole);
    if (how === "flip") bytes[from] = (bytes[from] as number) ^ (1 << (size % 8));
    if (how === "cut") return bytes.subarray(0, from);
    if (how === "drop") return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    if (how === "double") return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
    if (how === "swap")
      return Buffer.concat([whole.subarray(to), whole.subarray(from, to), whole.subarray(0, from)]);
    return bytes;
  };
  fc.assert(
    fc.property(damage, (given) => {
      const outcome = read(damaged(given));
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      if (outcome !== "state_unreadable") expect(outcome).toBe(state);
    }),
    runs(300),
  );
  expect(seen.get("state_unreadable")).toBeGreaterThan(50);
});
