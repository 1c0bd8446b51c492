import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { startInNode } from "../../src/node/platform.js";
import { describeLine } from "../../src/sandbox/line.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import { describeSandbox } from "../../src/sandbox/start.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { addRequest, markChanged, openKept, saveKept } from "../../src/store/file/kept-sandbox.js";
import { parseState } from "../../src/store/state-format.js";
import { runs } from "../support/property-seed.js";
import { asked } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The bytes of a file with a snapshot and three lines of requests. */
async function savedFile(): Promise<Buffer> {
  const file = join(temporaryFolder(), "state.json");
  const sandbox = startInNode(bundledScenarios.active, { name: "active" });
  const kept = openKept(
    { file, given: "state" },
    {
      describe: () => ({ own: describeSandbox(sandbox) }),
      describeLine: (happened) => ({ line: describeLine(sandbox, happened) }),
    },
  );
  markChanged(kept);
  await saveKept(kept);
  for (let n = 0; n < 3; n += 1) {
    addRequest(kept, handle(runDue(sandbox), asked({ path: `/v1/${n}` })));
    await saveKept(kept);
  }
  return readFileSync(file);
}

const read = (bytes: Uint8Array): string => {
  try {
    return JSON.stringify(parseState(Buffer.from(bytes).toString("utf8"), "state.json"));
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const damage = fc.record({
  how: fc.constantFrom("flip", "cut", "drop", "swap", "drop a line", "swap lines"),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  size: fc.integer({ min: 1, max: 600 }),
});

test("a damaged file is the same state, a state without its end, or unreadable, and never another state", async () => {
  const whole = await savedFile();
  const lines = whole.toString("utf8").split(/(?<=\n)/);
  expect(lines).toHaveLength(4);
  const prefixes = lines.map((_, index) => read(Buffer.from(lines.slice(0, index + 1).join(""))));
  const seen = new Map<string, number>();
  const damaged = ({ how, at, size }: { how: string; at: number; size: number }): Buffer => {
    const from = Math.floor(at * whole.length);
    const to = Math.min(whole.length, from + size);
    const bytes = Buffer.from(whole);
    if (how === "flip") bytes[from] = (bytes[from] as number) ^ (1 << (size % 8));
    if (how === "cut") return bytes.subarray(0, from);
    if (how === "drop") return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    if (how === "swap")
      return Buffer.concat([whole.subarray(to), whole.subarray(from, to), whole.subarray(0, from)]);
    const [one, other] = [Math.floor(at * lines.length), size % lines.length];
    const left = [...lines];
    [left[one], left[other]] = [lines[other] as string, how === "swap lines" ? (lines[one] as string) : ""];
    return how.endsWith("line") || how === "swap lines" ? Buffer.from(left.join("")) : bytes;
  };
  fc.assert(
    fc.property(damage, (given) => {
      const found = read(damaged(given));
      seen.set(found, (seen.get(found) ?? 0) + 1);
      const isUnchanged = damaged(given).equals(whole);
      if (isUnchanged) expect(found).toBe(prefixes.at(-1));
      else if (found !== "state_unreadable") expect(prefixes).toContain(found);
      // Only what ends early is taken for a kill.
      if (given.how === "flip" && given.at < 0.5)
        expect(["state_unreadable", prefixes.at(-1)]).toContain(found);
    }),
    runs(300),
  );
  expect(seen.get("state_unreadable")).toBeGreaterThan(50);
});
