import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { allProbeKeys, type Misbehave, probed } from "../support/probed-server.js";

// What is away or locked in a part of a service, on a clock that only waits and requests move.

async function compare(misbehave: (now: () => number) => Misbehave) {
  let time = 0;
  const { send, refs } = probed(misbehave(() => time));
  const result = await compareWithContract(
    (apiKey) => {
      time += 50;
      return send(apiKey);
    },
    {
      ...{ url: "https://api.example/v1/relying-party/me", env: allProbeKeys, probeLimits: false },
      ...{ unknownKey: unknownSecret, random: () => 0, now: () => time },
      wait: async (milliseconds) => {
        time += milliseconds;
      },
    },
  );
  return { ...result, refs };
}

const json = { "Content-Type": "application/json" };
const error = (code: string) => ({ headers: json, body: { error: { code, message: "No." } } });

test.each([200, 1000, 3000, 10_000])(
  "a key store that is away for %i ms is no difference, wherever it begins",
  async (duration) => {
    for (let from = 2; from <= 30; from++) {
      let awaySince: number | undefined;
      const { differences } = await compare((now) => (reply, { ref, number, count }) => {
        if (number === from) awaySince = now();
        const isAway = awaySince !== undefined && now() <= awaySince + duration;
        // Keys that have worked are cached.
        const isCached = ref === "none" || (reply.status === 200 && count > 1);
        if (isAway && !isCached) Object.assign(reply, { status: 500, ...error("internal") });
      });
      expect([from, differences]).toEqual([from, []]);
    }
  },
);

test("an allow list is no difference, and few keys are sent to it", async () => {
  const { verdict, differences, notes, refs } = await compare(() => (reply) => {
    Object.assign(reply, { status: 403, ...error("ip_not_allowed") });
  });
  expect([verdict, differences]).toEqual(["stopped", []]);
  expect(notes[0]).toMatch(/^No given key has worked: wrong keys, an allow list, or a lock\. /);
  const withKeys = refs.filter((ref) => !["none", "malformed", "unknown"].includes(ref));
  expect(withKeys.length).toBeLessThanOrEqual(8);
});

test.each([2, 3, 4, 6])(
  "a wrong 403 of a key that is locked after %i rejected requests is never an agreement",
  async (most) => {
    const { outcomes } = await compare(() => (reply, { ref, count }) => {
      if (ref !== "revoked") return;
      Object.assign(reply, { status: 403, ...error(count > most ? "key_locked" : "key_revoked") });
    });
    const ofRevoked = outcomes.find(({ outcome }) => outcome === "401.revoked");
    expect(ofRevoked?.result).toBe(most === 2 ? "agrees_in_part" : "differs");
  },
);
