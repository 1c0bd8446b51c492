import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { type Ending, endings } from "../../src/compare/sending/session.js";
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

/** A limit of all keys, which one of them reaches. */
function limitAll(): Misbehave {
  let isReached = false;
  return (reply, { ref }) => {
    if (isReached && reply.status === 200) Object.assign(reply, limited);
    isReached ||= ref.startsWith("rate-limited");
  };
}

/** For each response that ends a comparison, a service that sends it. */
const services: Readonly<Record<Ending, () => Misbehave>> = {
  limit: () => fromTenth(limited),
  no_key: () => (reply) => void (reply.status === 200 && Object.assign(reply, rejected)),
  shared_limit: limitAll,
  outage: () => fromTenth({ status: 500 }),
};

const outages: Readonly<Record<string, Partial<Reply>>> = {
  "a lock that sends 401": rejected,
  "a 503": { status: 503 },
  "a page": page,
  "no response": { status: 0 },
};

test.each<[what: string, ending: Ending, misbehave: () => Misbehave]>([
  ...(Object.keys(services) as Ending[]).map((ending) => [ending, ending, services[ending]] as const),
  ...Object.entries(outages).map(([what, reply]) => [what, "outage", () => fromTenth(reply)] as const),
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
        ...{ probeLimits: true, unknownKey: unknownSecret },
      },
    );
    expect(endedBy).toBeDefined();
    expect(notes[0]).toContain(`Nothing was sent after it: it may be ${endings[ending].suspicion}.`);
    expect(afterEnd).toBeLessThanOrEqual(3);
    const rules = differences.map((difference) => difference.rules.join());
    const isShared = ending === "shared_limit";
    expect([verdict, rules]).toEqual(isShared ? ["differs", ["R25"]] : ["stopped", []]);
  },
);
