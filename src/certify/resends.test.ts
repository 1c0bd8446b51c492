import { expect, test } from "vitest";
import { handMade, kindsOf, reasonOf, resultsOf, sentKey, sentTimes } from "../../test/certify/hand-made.js";
import type { KeyRequest, RunEnd } from "./client-runs/client-run.js";
import { judgeResends } from "./resends.js";

const point = { row: "etag", variant: "weak", status: 200 };
const silent: Partial<RunEnd> = { result: "failed", replacedCount: 1, sentKeys: [sentTimes("active", 2, 2)] };
const passed: Partial<RunEnd> = { ...silent, result: "passed" };
/** One more request after the rejection, as it came: too early by so many milliseconds, or in time. */
const more = (afterRejection?: KeyRequest["afterRejection"]): Partial<RunEnd> => ({
  replacedCount: 1,
  sentKeys: [sentKey("active", {}, { isReplaced: true }, { afterRejection })],
});
const tooEarly: Partial<KeyRequest> = { afterRejection: { kind: "too_early", ms: 300 } };
const early = more(tooEarly.afterRejection);

interface Ends {
  /** How runs end that reject the last request, one after another; the last one is repeated. */
  readonly rejected: readonly Partial<RunEnd>[];
  /** How runs end with a 404 in its place. Default: nothing follows. */
  readonly controls?: readonly Partial<RunEnd>[];
}

/** A client that sends a key twice in each run. */
async function resendsOf(kind: string, { rejected, controls = [silent] }: Ends, plan = {}) {
  const at = (ends: readonly Partial<RunEnd>[], before: number) => ends[Math.min(before, ends.length - 1)];
  const { runs, names } = await handMade(
    ({ name, conditions: { onRequest } }, before) => {
      if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
      return at(name === "resend" ? controls : rejected, before);
    },
    { only: [kind], ...plan },
  );
  const { checks, problems } = await judgeResends(runs);
  const result = resultsOf(checks)[kind];
  return { result, problems, why: reasonOf(result)?.why, names };
}

test("a 401 holds if the command fails, and nothing follows", async () => {
  const { result, names } = await resendsOf("resend.401", { rejected: [silent] });
  expect(result).toEqual({ kind: "held", key: "active", byFailure: true });
  // Of one or two kinds alone, three of three runs must fail.
  expect(names.filter((name) => name.startsWith("resend"))).toEqual(Array(3).fill("resend.401"));
});

test("a key that comes again in three of three runs, and in none of three with a 404, is a problem, which names --allow", async () => {
  const { result, problems, names } = await resendsOf("resend.401", { rejected: [more()] });
  expect(result?.kind).toBe("failed");
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "Sends ACTIVE again after a 401 (3 of 3 runs; not after a 404; active-3)",
  ]);
  expect(problems[0]?.whatToDo).toContain("add --allow resend.401.");
  expect(["resend.401", "resend"].map((one) => names.filter((name) => name === one).length)).toEqual([3, 3]);
});

test.each<[string, Ends, RegExp]>([
  [
    "some of three runs",
    { rejected: [more(), silent, more()] },
    /^after a 401, SVC_KEY_ACTIVE was sent again \(active-3\) in 2 of 3 runs$/,
  ],
  [
    "also a run with a 404",
    { rejected: [more()], controls: [silent, more(), silent] },
    /^asks again after every failure \(401, 404\): the client, or the runner's retries$/,
  ],
  [
    "three runs, and a 404 shows nothing",
    { rejected: [more()], controls: [{ ...silent, replacedCount: 0 }] },
    /^asks again after every failure \(401, 404\)/,
  ],
])("a key that comes again in %s is not judged", async (_, ends, why) => {
  const { problems, why: found } = await resendsOf("resend.401", ends);
  expect(problems).toEqual([]);
  expect(found).toMatch(why);
});

test.each<[string, Partial<RunEnd>, RegExp]>([
  [
    "the command survives it",
    passed,
    /^the command passes when the last request with SVC_KEY_ACTIVE gets a 401/,
  ],
  ["no request was hit", { ...silent, replacedCount: 0 }, /^no request was hit$/],
  [
    "the command ends late",
    { ...silent, result: "timed_out" },
    /^the command did not end in time in run \d+$/,
  ],
])("a 401 is not judged if %s", async (_, end, why) => {
  expect((await resendsOf("resend.401", { rejected: [end] })).why).toMatch(why);
});

test.each<[string, Partial<KeyRequest>]>([
  ["to an unknown path", { outcome: "404.unknown_path" }],
  ["by another method", { outcome: "405.method" }],
])("the key again %s is one more request", async (_, request) => {
  const again = { ...silent, sentKeys: [sentKey("active", {}, { isReplaced: true }, request)] };
  const { problems } = await resendsOf("resend.401", { rejected: [again] });
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "Sends ACTIVE again after a 401 (3 of 3 runs; not after a 404; active-3)",
  ]);
});

test("one of three runs that passes holds nothing", async () => {
  const { result, why } = await resendsOf("resend.401", { rejected: [silent, passed] });
  expect([result?.kind, why]).toEqual(["not_judged", expect.stringMatching(/^the command passes when/)]);
});

test("the statuses are named after all of which the key came again, also after a 404", async () => {
  const { runs } = await handMade(({ conditions: { onRequest } }) =>
    onRequest === undefined ? { sentKeys: [sentTimes("active", 2)], points: [point] } : early,
  );
  const { checks } = await judgeResends(runs);
  const reasons = new Set(checks.map(({ result }) => reasonOf(result)?.why));
  expect([...reasons]).toEqual([
    "asks again after every failure (401, 404, 429, 503): the client, or the runner's retries",
  ]);
});

test("after a rejection that ends, only a request before its time counts", async () => {
  const timed = "resend.429.seconds";
  expect((await resendsOf(timed, { rejected: [more()] })).result?.kind).toBe("held");
  expect((await resendsOf(timed, { rejected: [more({ kind: "by_other_process" })] })).why).toMatch(
    /^another process of the command sent the key/,
  );
  const both = { ...early, sentKeys: [sentKey("active", {}, { isReplaced: true }, tooEarly, {})] };
  expect((await resendsOf(timed, { rejected: [both] })).why).toMatch(/too early, and once more in time$/);
  const { problems } = await resendsOf(timed, { rejected: [early] });
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "Sends ACTIVE again 300 ms after a 429 with `Retry-After: 4` (3 of 3 runs; not after a 404; active-3)",
  ]);
  expect((await resendsOf(timed, { rejected: [early, more(), early] })).why).toMatch(/in 2 of 3 runs$/);
});

test("after a 429 without Retry-After, the client has time until the next minute begins", async () => {
  const silentMs: number[] = [];
  const { runs } = await handMade(
    ({ name, timeouts, conditions: { onRequest } }) => {
      if (name === "resend.429.without") silentMs.push(timeouts.silent);
      if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
      return silent;
    },
    { only: ["resend.429.without"] },
  );
  await judgeResends(runs);
  expect(Math.min(...silentMs)).toBeGreaterThan(60_000);
});

test("what --allow names is no problem, and takes no other run", async () => {
  const { result, problems, names } = await resendsOf(
    "resend.401",
    { rejected: [more()] },
    { allow: ["resend.401"] },
  );
  expect([result?.kind, problems, names.filter((name) => name.startsWith("resend")).length]).toEqual([
    "allowed",
    [],
    // One chooses the key: a 404 in place of the rejection.
    2,
  ]);
});

test("rejections for good are one problem, and those that end another one", async () => {
  const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
    return name === "resend" ? silent : early;
  });
  const { checks, problems } = await judgeResends(runs);
  expect(problems.map(({ runs: names }) => names)).toEqual([
    ["resend.401"],
    ["resend.429.without", "resend.429.seconds", "resend.429.date", "resend.503.seconds"],
  ]);
  expect(new Set(Object.values(kindsOf(checks)))).toEqual(new Set(["failed"]));
});

/** Why no key is found, if the runs send these; `undefined` if there is one. */
async function whyNoKey(
  plain: RunEnd["sentKeys"],
  other: RunEnd["sentKeys"] = plain,
  plan: Parameters<typeof handMade>[1] = {},
) {
  const { runs, names } = await handMade(({ conditions: { onRequest, profile } }) => {
    if (onRequest !== undefined) return { ...silent, sentKeys: other };
    return { sentKeys: profile === "varied" ? other : plain, points: [point] };
  }, plan);
  const { checks } = await judgeResends(runs);
  return { why: reasonOf(checks[0]?.result)?.why, names };
}

test("the key works in each request, and comes equally often in each run that passed", async () => {
  const noKey = "no key that always works came equally often in each run";
  expect((await whyNoKey([sentTimes("active", 2)])).why).toBeUndefined();
  expect((await whyNoKey([sentTimes("active", 1), sentTimes("live", 2)])).why).toBeUndefined();
  // Only the 401 stays open: a client may send a key again that has worked before.
  expect((await whyNoKey([sentTimes("active", 1)])).why).toMatch(/^only one request has SVC_KEY_ACTIVE/);
  expect((await whyNoKey([sentTimes("active", 2)], [sentTimes("active", 3)])).why).toBe(noKey);
  expect((await whyNoKey([sentKey("active", {}, {}, { outcome: "401.expired" })])).why).toBe(noKey);
  expect((await whyNoKey([{ ...sentTimes("6f2a", 2), isUnknown: true }])).why).toBe(noKey);
  for (const name of ["200.test", "answer.200.test"]) {
    expect((await whyNoKey([sentTimes("active", 2)], undefined, { allow: [name] })).why).toBe(noKey);
  }
});

test("the key that is rejected is the default one, one that came twice before it, and none that comes again after every failure", async () => {
  const keyThat = async (count: number, isRepeated: (key: string, name: string) => boolean) => {
    const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
      const keys = [sentTimes("live", 1), sentTimes("active", 1), sentTimes("legacy", count)];
      if (onRequest?.which.kind !== "nth") return { sentKeys: keys, points: [point] };
      const { key: ref, nth } = onRequest.which;
      const times = isRepeated(ref, name) ? nth + 1 : nth;
      const hit = keys.map((one) => (one.key === ref ? sentTimes(ref, times, nth) : one));
      return { result: "failed", replacedCount: 1, sentKeys: hit };
    });
    const { checks } = await judgeResends(runs);
    const result = resultsOf(checks)["resend.401"];
    if (result?.kind === "held") return result.key;
    const why = result?.kind === "not_judged" ? result.why : "";
    return /SVC_KEY_(\w+)/.exec(why)?.[1]?.toLowerCase() ?? result?.kind;
  };
  expect(await keyThat(1, () => false)).toBe("active");
  expect(await keyThat(2, () => false)).toBe("legacy");
  expect(await keyThat(1, (key) => key === "active")).toBe("live");
  // The client sends it again after a 401 only: that is what the check is about.
  expect(await keyThat(1, (_, name) => name !== "resend")).toBe("failed");
  expect(await keyThat(1, () => true)).toBe("not_judged");
});

test("what holds because the client waited rests on no failure", async () => {
  const waited = await resendsOf("resend.429.seconds", { rejected: [{ ...more(), result: "passed" }] });
  expect(waited.result).toEqual({ kind: "held", key: "active" });
});

test("without varied runs, three plain ones show that the key comes equally often", async () => {
  const { names } = await whyNoKey([sentTimes("active", 2)], undefined, { only: ["resend.401"] });
  expect(names.filter((name) => name === "plain")).toHaveLength(3);
});
