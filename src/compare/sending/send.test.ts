import { expect, test } from "vitest";
import type { NoResponse, RawResponse } from "../../node/clients/send-once.js";
import { unknownSecret } from "../../scenario/keys.js";
import type { PromisedOutcomeId } from "../contract/findings.js";
import { send } from "./send.js";
import { Session } from "./session.js";

type Reply = readonly [status: number, json?: unknown];

const rejected: Reply = [401, { error: { code: "unauthorized", message: "No." } }];
const works: Reply = [200, { data: { limits: { per_minute: 60, per_day: 1000 }, usage: { today: 1 } } }];
const usage = (today: unknown, perDay: unknown) => ({
  data: { usage: { today }, limits: { per_day: perDay } },
});
const env = { SVC_API_KEY: "SVC_test_a", SVC_KEY_REVOKED: "SVC_test_b" };

/** Sends a request without a key, one with a key that works if `hasWorked`, and then another one, with the next replies. */
async function sendAfterFirst(outcome: PromisedOutcomeId, replies: readonly Reply[], hasWorked = false) {
  const all = [rejected, ...(hasWorked ? [works] : []), ...replies];
  const sent: (string | undefined)[] = [];
  const session = new Session(
    async (apiKey): Promise<RawResponse | NoResponse> => {
      const [status, json] = all[sent.length] ?? [0];
      sent.push(apiKey);
      if (status === 0) return { noResponse: "failed", found: "nothing came", hint: "" };
      const body = Buffer.from(json === undefined ? "text" : JSON.stringify(json));
      return { status, version: "1.1", reason: "", headers: [], body };
    },
    { url: "https://api.example/", env, probeLimits: false, unknownKey: unknownSecret },
  );
  await send(session, { outcome: "401.missing" });
  if (hasWorked) await send(session, { outcome: "200.test", variable: "SVC_API_KEY" });
  const variable = outcome.startsWith("200") ? "SVC_API_KEY" : "SVC_KEY_REVOKED";
  const result = await send(session, { outcome, variable });
  if (result.kind === "not_sent") throw new Error(result.why);
  return { ...result.attempt, session, end: session.end, controls: sent.slice(hasWorked ? 3 : 2) };
}

test.each<[PromisedOutcomeId, number, unknown, boolean]>([
  ["429.per_day", 200, usage(1000, 1000), true],
  ["429.per_day", 200, usage(1001, 1000), false],
  ["429.per_day", 200, { data: {} }, true],
  ["429.per_day", 200, usage(1, null), true],
  ["429.per_minute", 200, { data: {} }, true],
  ["200.test", 429, {}, true],
  ["403.access_denied", 429, {}, true],
  ["401.revoked", 429, {}, true],
  ["429.per_day", 429, {}, false],
  ["403.insufficient_scope", 200, { data: {} }, true],
  ["403.access_denied", 200, { data: {} }, false],
  ["200.test", 200, { data: {} }, false],
])("%s with %i and %j shows nothing of its outcome: %j", async (outcome, status, json, isNothingShown) => {
  const { whyUnjudged } = await sendAfterFirst(outcome, [[status, json]]);
  expect(whyUnjudged !== undefined).toBe(isNothingShown);
});

test.each<[PromisedOutcomeId, Reply]>([
  ["401.revoked", [403, { error: { code: "access_denied" } }]],
  ["401.revoked", [401]],
  ["401.revoked", [401, { error: { code: "key_revoked" } }]],
  ["401.revoked", [500, {}]],
  ["401.revoked", [503]],
  ["401.revoked", [302]],
  ["401.revoked", [200]],
  ["401.revoked", [0]],
  ["403.access_denied", [403, { error: { code: "insufficient_scope" } }]],
])(
  "%s with %j is a surprise, and judged only if the controls get what they got before",
  async (outcome, reply) => {
    const judged = await sendAfterFirst(outcome, [reply, reply, rejected, works, reply], true);
    expect([judged.whyUnjudged, judged.end, judged.controls]).toEqual([
      undefined,
      undefined,
      ["SVC_test_b", undefined, "SVC_test_a", "SVC_test_b"],
    ]);
    for (const controls of [[[502]], [[0]], [rejected, [401, {}]], [rejected, [429, {}]]] as Reply[][]) {
      const { whyUnjudged, end } = await sendAfterFirst(outcome, [reply, reply, ...controls], true);
      expect([whyUnjudged, end?.kind]).toEqual([
        expect.stringContaining("an outage, a lock or a limit"),
        "response",
      ]);
    }
  },
);

test.each<[PromisedOutcomeId, Reply]>([
  ["401.revoked", rejected],
  ["401.revoked", works],
  ["403.access_denied", [403, { error: { code: "access_denied" } }]],
  ["200.test", works],
])("%s with %j needs no control", async (outcome, reply) => {
  expect((await sendAfterFirst(outcome, [reply])).controls).toEqual([]);
});

test.each<[status: number, json?: unknown]>([
  [500, {}],
  [302],
  [0],
  [401],
  [403, { error: { code: "access_denied" } }],
  [200, {}],
])("a single %i, and then the promised response, is a note, and needs no control", async (status, json) => {
  const replies: Reply[] = [[status, json], rejected];
  const { whyUnjudged, end, controls } = await sendAfterFirst("401.revoked", replies, true);
  expect([whyUnjudged, end, controls]).toEqual([undefined, undefined, ["SVC_test_b"]]);
});

test.each<[what: string, second: Reply, third: Reply]>([
  ["the promised response", [500, {}], rejected],
  ["another failure", [500, {}], [502]],
  ["the failure before the second one", [502], [500, {}]],
])("two failures, working controls and then %s break no rule", async (_what, second, third) => {
  const replies: Reply[] = [[500, {}], second, rejected, works, third];
  const { session, end, whyUnjudged } = await sendAfterFirst("401.revoked", replies, true);
  expect([end, session.surprises, session.failures.length]).toEqual([undefined, [], 2]);
  expect(whyUnjudged === undefined).toBe(third === rejected);
});

test("a key that has worked, and then gets something else twice, ends the comparison", async () => {
  const reply: Reply = [401, { error: { code: "unauthorized" } }];
  const { whyUnjudged, end } = await sendAfterFirst("200.test", [reply, reply, rejected], true);
  expect([whyUnjudged, end?.message]).toEqual([
    expect.stringContaining("an outage, a lock or a limit"),
    expect.stringContaining("SVC_API_KEY has worked before"),
  ]);
});
