import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/run.js";
import { unknownSecret } from "../../src/scenario/described-keys.js";
import {
  allProbeKeys,
  type Misbehave,
  probed,
  probeKeys,
  type Reply,
  setIn,
} from "../support/probed-server.js";

async function compare(misbehave: Misbehave, env: Readonly<Record<string, string>>) {
  const { send, refs } = probed(misbehave);
  const url = "https://api.example/v1/relying-party/me";
  const result = await compareWithContract(send, {
    ...{ url, env, probeLimits: true, unknownKey: unknownSecret },
  });
  const of = (outcome: string) => result.outcomes.find((one) => one.outcome === outcome);
  return {
    ...result,
    of,
    sent: refs.length,
    times: (ref: string) => refs.filter((one) => one === ref).length,
  };
}

const oneKey = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string };
const lock = (reply: Reply) =>
  Object.assign(reply, {
    ...{ status: 429, headers: { "Content-Type": "application/json", "Retry-After": "900" } },
    body: { error: { code: "too_many_failures", message: "Later." } },
  });

test("after a lock, nothing is sent, nothing is learned from it, and the outcomes show why", async () => {
  let failures = 0;
  const { notes, of, sent, verdict, assumptions, differences } = await compare((reply) => {
    if (failures >= 5) lock(reply);
    else if (reply.status === 401) failures += 1;
  }, oneKey);
  expect([sent, verdict, differences, Object.keys(assumptions)]).toEqual([
    8,
    "stopped",
    [],
    ["www_authenticate"],
  ]);
  expect(of("401.unknown")).toMatchObject({
    result: "agrees_in_part",
    got: "401 unauthorized, then 429 too_many_failures",
  });
  expect(of("429.per_minute")).toMatchObject({
    result: "not_tried",
    reason: "nothing was sent after 401.unknown got 429 too_many_failures",
  });
  expect(notes).toContain(
    "401.unknown got 429 too_many_failures after 7 requests; a rejected key has no limits. Nothing was sent after it: it may be a lock, or another limiter. Try again later.",
  );
});

test("R22 a 429 before per_minute requests of the key is not its limit", async () => {
  const { notes, of, assumptions } = await compare((reply, { ref, count }) => {
    if (ref === "active" && count > 5) lock(reply);
  }, oneKey);
  const why = "after 5 requests of the key; its per_minute is 60";
  expect(of("429.per_minute")).toMatchObject({ result: "not_tried", reason: why });
  expect(notes[0]).toMatch(
    new RegExp(`^429\\.per_minute got 429 too_many_failures ${why}\\. Nothing was sent after it`),
  );
  expect(Object.keys(assumptions)).toEqual(["www_authenticate"]);
});

test("R22 R23 a 429 of a key at its limit counts only if a request without a key does not get it", async () => {
  const limited = await compare(() => {}, allProbeKeys);
  expect(["429.per_day", "429.per_minute"].map((outcome) => limited.of(outcome)?.result)).toEqual([
    "agrees",
    "agrees",
  ]);
  let sent = 0;
  const locked = await compare((reply) => {
    sent += 1;
    if (sent > limited.sent - 4) lock(reply);
  }, allProbeKeys);
  expect(locked.of("429.per_day")).toMatchObject({
    result: "not_tried",
    reason: "a request without a key got 429 too_many_failures, too",
  });
  expect(locked.of("429.per_minute")?.result).toBe("not_tried");
  expect([locked.sent, locked.assumptions.rate_limit_code]).toEqual([limited.sent - 2, undefined]);
});

test("a service that blocks rejected keys otherwise still shows its limit", async () => {
  let failures = 0;
  const { of, assumptions } = await compare((reply) => {
    if (reply.status === 401 && ++failures > 10) reply.status = 403;
  }, allProbeKeys);
  expect(of("429.per_day")?.result).toBe("agrees");
  expect(assumptions.rate_limit_code?.value).toBe("rate_limited");
});

test("R23 a 429 of a key whose day is used up is no limit of its minute", async () => {
  const { of } = await compare((reply, { ref, count }) => {
    if (reply.status === 200) setIn(reply, "body.data.usage.today", 995 + count);
    if (ref === "active" && count > 5) lock(reply);
  }, oneKey);
  expect(of("429.per_minute")?.reason).toBe(
    "after 5 requests of the key; its per_minute is 60, and usage.today is 1000 of 1000",
  );
});

test("a 503 is a difference, and ends the comparison", async () => {
  const { of, differences, sent } = await compare((reply, { ref }) => {
    if (ref === "revoked") Object.assign(reply, { status: 503, body: "Later." });
  }, probeKeys);
  expect(differences.map(({ outcome, found }) => [outcome, found])).toEqual([["401.revoked", "503"]]);
  expect([sent, of("401.expired")?.reason]).toEqual([6, "nothing was sent after 401.revoked got 503"]);
});
