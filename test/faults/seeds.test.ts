import fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import type { Fault } from "../../src/index.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import { mePath, openTestWorld } from "../support/doors.js";
import { scenarioWith, send, unavailable, used, worldWith } from "../support/faulty.js";
import { propertySeed } from "../support/property-seed.js";

const condition = fc.record(
  {
    key: fc.constantFrom("main", "other", "revoked"),
    every: fc.integer({ min: 1, max: 4 }),
    requests: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    path_id: fc.constantFrom("200.test" as const, "401.revoked" as const),
  },
  { requiredKeys: [] },
);
const effect = fc.constantFrom<Fault["then"]>(
  { status: 503 },
  { reset: true },
  { hang: true },
  { latency: { min: "1ms", max: "1s" } },
  { slow: 10 },
  { truncate: true, latency: "5ms" },
);
const someFaults = fc.array(fc.record({ when: condition, then: effect }), { minLength: 1, maxLength: 5 });
const keys = fc.array(fc.constantFrom("main", "other", "revoked"), { minLength: 1, maxLength: 40 });
const seeds = fc.nat({ max: 1_000_000 });

/** All that comes of the requests, on a frozen clock. */
function play(seed: number, faults: readonly Fault[], sent: readonly string[]) {
  const world = openTestWorld(scenarioWith(faults), { seed });
  return sent.map((key) => {
    const apiKey = scenarioSecret(world, key);
    const { delivery, pathId, answer } = handle(world, { method: "GET", path: mePath, apiKey });
    return { delivery, pathId, body: answer.body };
  });
}

test("what happens is a function of the seed and the requests so far, however many come after them", () => {
  fc.assert(
    fc.property(seeds, someFaults, keys, fc.nat({ max: 40 }), (seed, faults, sent, length) => {
      expect(play(seed, faults, sent).slice(0, length)).toEqual(play(seed, faults, sent.slice(0, length)));
    }),
    { numRuns: 200, ...propertySeed },
  );
});

test("a fault more at the end of the list changes nothing for those before it", () => {
  fc.assert(
    fc.property(seeds, someFaults, effect, keys, (seed, faults, then, sent) => {
      const fewer = play(seed, faults, sent);
      const more = play(seed, [...faults, { when: { probability: 0.5 }, then }], sent);
      for (const [index, { pathId, delivery }] of fewer.entries()) {
        if (delivery !== undefined) expect(more[index]).toMatchObject({ pathId, delivery });
      }
    }),
    { numRuns: 200, ...propertySeed },
  );
});

test("R24 no request counts but those whose own answer comes whole", () => {
  fc.assert(
    fc.property(seeds, someFaults, keys, (seed, faults, sent) => {
      const world = openTestWorld(scenarioWith(faults), { seed });
      const whole = sent.filter((key) => send(world, { key }).pathId === "200.test" && key === "main");
      expect(used(world)).toBe(whole.length);
    }),
    { numRuns: 200, ...propertySeed },
  );
});

test("another seed gives other faults", () => {
  const one: Fault[] = [{ when: { probability: 0.5 }, then: { reset: true } }];
  const sent = new Array<string>(64).fill("main");
  const paths = (seed: number) => play(seed, one, sent).map(({ pathId }) => pathId);
  expect(paths(1)).not.toEqual(paths(2));
});

test("two faults with the same probability are drawn apart", () => {
  const world = worldWith(
    { when: { key: "main", probability: 0.5 }, then: unavailable },
    { when: { key: "main", probability: 0.5 }, then: { reset: true } },
  );
  const paths = Array.from({ length: 400 }, () => send(world).pathId);
  const share = (path: string) => paths.filter((one) => one === path).length / paths.length;
  expect(share("fault.status")).toBeCloseTo(0.5, 1);
  expect(share("fault.reset")).toBeCloseTo(0.25, 1);
});
