import { expect, test } from "vitest";
import { handMade, sentKey, sentTimes, steadyKey } from "../../../test/certify/hand-made.js";
import { shownOr } from "../checks/judgment.js";
import type { PlannedRun, RunEnd, SentKey } from "../client-runs/client-run.js";
import { findDoubtOfSteadiness, findSteadyKey, steadyKeysBesides } from "./steady-key.js";

const rejected = { outcome: "401.revoked" } as const;
const point = { row: "etag", variant: "weak", status: 200 };

/** A client whose plain and varied runs send these keys, and whose command fails when one of `used` gets a 404. */
const sending =
  (keys: readonly SentKey[], used: readonly string[] = ["active", "live"], more: Partial<RunEnd> = {}) =>
  ({ conditions: { onRequest } }: PlannedRun): Partial<RunEnd> => {
    if (onRequest === undefined) return { sentKeys: keys, points: [point], ...more };
    return {
      sentKeys: keys,
      replacedCount: 1,
      result: onRequest.which.kind === "nth" && used.includes(onRequest.which.key) ? "failed" : "passed",
    };
  };

const two = (key: string) => sentTimes(key, 2);
const refOf = async (...args: Parameters<typeof handMade>) => {
  const key = await shownOr(findSteadyKey((await handMade(...args)).runs), (reason) => reason);
  return "why" in key ? key.why : key.ref;
};

test("the default key comes first, and then the next one whose 404 makes the command fail", async () => {
  expect(await refOf(sending([two("live"), two("active")]))).toBe("active");
  expect(await refOf(sending([two("live"), two("active")], ["live"]))).toBe("live");
  expect(await refOf(sending([two("active"), two("live")]), { defaultKey: "live" })).toBe("live");
});

test("at most three keys are tried, and the first one has the reason", async () => {
  const keys = ["active", "live", "legacy", "retiring"];
  const { runs, names } = await handMade(sending(keys.map(two), ["retiring"]));
  expect(await shownOr(findSteadyKey(runs), ({ why }) => why)).toContain("SVC_KEY_ACTIVE gets a 404");
  expect(names.filter((name) => name === "resend")).toHaveLength(3);
});

test.each<[string, SentKey]>([
  ["is rejected once", sentKey("active", {}, {}, rejected)],
  ["no sandbox has", { ...two("active"), isUnknown: true }],
  ["is sent once", sentTimes("active", 1)],
  ["is sent twice, with one response that nobody read", sentKey("active", {}, { isUnread: true })],
])("a key that %s is not tried", async (_, sent) => {
  expect(await refOf(sending([sent, two("live")]))).toBe("live");
});

test("a key none of whose responses is read whole gets no turn: no run could reject its last request", async () => {
  const unread = sentKey("live", { isUnread: true }, { isUnread: true });
  const { runs } = await handMade(sending([two("active"), unread, two("legacy")]));
  const besides = await steadyKeysBesides(runs, steadyKey("active", 2));
  expect(besides.map(({ ref }) => ref)).toEqual(["legacy"]);
});

test("the last request of a key is counted with those before it whose response nobody read", async () => {
  const sent = sentKey("active", { isUnread: true }, {}, {});
  const numbers: unknown[] = [];
  const { runs } = await handMade((run) => {
    const { onRequest } = run.conditions;
    if (onRequest?.which.kind === "nth") numbers.push(onRequest.which.nth);
    return sending([sent])(run);
  });
  expect(await findSteadyKey(runs)).toMatchObject({
    ref: "active",
    requests: [{ nth: 2 }, { nth: 3 }],
  });
  expect(numbers).toEqual([3]);
});

test("a key with an outcome that --allow names is not tried: it is rejected on purpose", async () => {
  expect(await refOf(sending([two("active")]), { allow: ["200.test"] })).toBe(
    "--allow 200.test leaves out SVC_KEY_ACTIVE, and the plain run sent no other key that always works",
  );
});

test("a key that a varied run sends more often is not tried, unless that run failed", async () => {
  const ofVaried = (result: RunEnd["result"]) =>
    refOf((request) => {
      if (request.name !== "varied.5") return sending([two("active")])(request);
      return { sentKeys: [sentTimes("active", 3)], points: [point], result };
    });
  expect(await ofVaried("passed")).toBe(
    "not all runs sent SVC_KEY_ACTIVE equally often, although nothing was rejected",
  );
  expect(await ofVaried("failed")).toBe("active");
});

test.each<[string, Partial<RunEnd>, RegExp]>([
  [
    "it is sent again",
    { result: "failed", replacedCount: 1, sentKeys: [sentTimes("active", 3, 2)] },
    /also sent again after a 404$/,
  ],
  [
    "the command passes",
    { replacedCount: 1, sentKeys: [sentTimes("active", 2, 2)] },
    /^the command passes when the last request/,
  ],
  ["no request was hit", { result: "failed", sentKeys: [two("active")] }, /^no request was hit$/],
  ["it ends late", { result: "timed_out", replacedCount: 1 }, /^the command did not end in time$/],
])("a 404 shows why a key does not fit: %s", async (_, end, why) => {
  const request = sending([two("active")]);
  expect(await refOf((run) => (run.conditions.onRequest ? end : request(run)))).toMatch(why);
});

test("without two varied runs that passed, four more plain runs must send the key equally often", async () => {
  const key = steadyKey("active", 2);
  const whyWith = async (fifth: number, failing: number) => {
    const { runs, names } = await handMade(({ name, seed }, before) => {
      if (name !== "plain") {
        return { sentKeys: [two("active")], points: [point], result: seed <= failing ? "failed" : "passed" };
      }
      return { sentKeys: [sentTimes("active", before === 4 ? fifth : 2)] };
    });
    return {
      why: (await findDoubtOfSteadiness(runs, key))?.why,
      plain: names.filter((name) => name === "plain").length,
    };
  };
  expect(await whyWith(2, 6)).toEqual({ why: undefined, plain: 1 });
  expect(await whyWith(2, 7)).toEqual({ why: undefined, plain: 5 });
  expect((await whyWith(3, 7)).why).toMatch(/^not all runs sent SVC_KEY_ACTIVE equally often/);
});

test("a key that was sent twice and also rejected is named first, and the default key before others", async () => {
  const spoiled = (key: string) => sentKey(key, {}, { outcome: "401.expired" });
  const whyWith = (...keys: readonly SentKey[]) => refOf(sending(keys));
  expect(await whyWith(spoiled("legacy"), spoiled("active"), sentTimes("live", 1))).toBe(
    "SVC_KEY_ACTIVE got a 401 in the plain run (active-2), and no key that always works came twice",
  );
  expect(await whyWith(sentKey("active", rejected, rejected), sentTimes("live", 1))).toBe(
    "the plain run sent SVC_KEY_LIVE once",
  );
});

test("of keys that were sent twice and rejected once, the reason names the default key", async () => {
  const [live, active, legacy] = ["live", "active", "legacy"].map((key) => sentKey(key, {}, rejected));
  for (const keys of [
    [active, live, legacy],
    [live, active, legacy],
    [live, legacy, active],
  ]) {
    expect(await refOf(sending(keys as SentKey[]))).toMatch(/^SVC_KEY_ACTIVE got a 401 /);
  }
});
