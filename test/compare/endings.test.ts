import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { type Ending, endings } from "../../src/compare/session.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { allProbeKeys, type Misbehave, probed, type Reply } from "../support/probed-server.js";

const json = { "Content-Type": "application/json" };
const limited = { status: 429, headers: json, body: { error: { code: "slow_down", message: "Later." } } };
const rejected = { status: 401, headers: json, body: { error: { code: "unauthorized", message: "No." } } };
const page = { status: 200, headers: { "Content-Type": "text/html" }, bytes: "<html>Later</html>" };

/** Changes each response from the tenth one on: all but the limits were tried then. */
const fromTenth =
  (change: Partial<Reply>): Misbehave =>
  (reply, { number }) => {
    if (number > 9) Object.assign(reply, change);
  };

/** For each ending of a comparison, a service that causes it. */
const services: Readonly<Record<Ending, () => Misbehave>> = {
  limit: () => fromTenth(limited),
  no_key: () => (reply) => void (reply.status === 200 && Object.assign(reply, rejected)),
  key_gone: () => fromTenth({ status: 500 }),
};

const outages: Readonly<Record<string, Partial<Reply>>> = {
  "a lock that sends 401": rejected,
  "a 503": { status: 503 },
  "a page": page,
  "no response": { status: 0 },
};

test.each<[what: string, ending: Ending, misbehave: () => Misbehave]>([
  ...(Object.keys(services) as Ending[]).map((ending) => [ending, ending, services[ending]] as const),
  ...Object.entries(outages).map(([what, reply]) => [what, "key_gone", () => fromTenth(reply)] as const),
] as [string, Ending, () => Misbehave][])(
  "%s ends a comparison, and its note shows what it may be",
  async (_what, ending, misbehave) => {
    const { send } = probed(misbehave());
    let afterEnd = 0;
    const { verdict, differences, notes, endedBy } = await compareWithContract(
      async (apiKey) => {
        const reply = await send(apiKey);
        if (reply.status !== 0) return reply;
        afterEnd += 1;
        return { noResponse: "failed" as const, found: "nothing came", hint: "Look." };
      },
      {
        ...{ url: "https://api.example/v1/relying-party/me", env: allProbeKeys },
        ...{ probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
      },
    );
    expect(endedBy).toBeDefined();
    const { when, suspicion } = endings[ending];
    expect(notes[0]).toContain(`${when.slice(1)}: ${suspicion}.`);
    expect(afterEnd).toBeLessThanOrEqual(6);
    expect([verdict, differences]).toEqual(["stopped", []]);
  },
);
