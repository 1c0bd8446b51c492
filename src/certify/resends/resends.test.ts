import { expect, test } from "vitest";
import {
  handMade,
  kindsOf,
  reasonOf,
  reportCovering,
  resultsOf,
  sentKey,
  sentTimes,
} from "../../../test/certify/hand-made.js";
import type { Replacement } from "../../runs/conditions.js";
import type { KeyRequest, RunEnd } from "../client-runs/client-run.js";
import { judgeResends } from "./resends.js";

type End = Partial<RunEnd> | ((before: number) => Partial<RunEnd>);

/** A client whose last request with the key is rejected like this; in the other runs, a test uses it, and nothing follows. */
async function resendsOf(
  kind: string,
  ends: { readonly last: End; readonly first?: End; readonly late?: End },
  only?: readonly string[],
) {
  const endOf = (end: End, before: number) => (typeof end === "function" ? end(before) : end);
  const counts = new Map<string, number>();
  const { runs, names } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
    const { which, gets } = onRequest;
    const isFirst = which.kind === "nth" && which.nth === 1;
    const place = gets.kind === "late" ? "late" : isFirst ? "first" : "last";
    if (is404(gets) || (place === "last" && name !== kind)) return silent;
    const id = `${name} ${place}`;
    counts.set(id, (counts.get(id) ?? -1) + 1);
    return endOf(ends[place] ?? passed, counts.get(id) as number);
  }, only && { only });
  const { checks, problems } = await judgeResends(runs);
  const result = resultsOf(checks)[kind];
  return { result, problems, why: reasonOf(result)?.why, names };
}

const is404 = (gets: Replacement) => gets.kind === "rejection" && gets.as === "404.unknown_path";
const point = { row: "etag", variant: "weak", status: 200 };
const silent: Partial<RunEnd> = { result: "failed", replacedCount: 1, sentKeys: [sentTimes("active", 2, 2)] };
const passed: Partial<RunEnd> = { replacedCount: 1, sentKeys: [sentTimes("active", 2, 2)] };
const resent: Partial<RunEnd> = { replacedCount: 1, sentKeys: [sentTimes("active", 3, 2)] };
const tooEarly = (ms: number | undefined): Partial<KeyRequest> =>
  ms === undefined ? {} : { afterRejection: { kind: "too_early", ms } };
/** One more request, so long after the rejection, before its time. */
const early = (earlyMs: number | undefined): Partial<RunEnd> => ({
  replacedCount: 1,
  sentKeys: [sentKey("active", {}, { isReplaced: true }, tooEarly(earlyMs))],
});
const timed = "resend.429.seconds";
/** A run in which each rejection of every other request, here one, is followed by one more. */
const inAnyOrder = (key: string, count: number): Partial<RunEnd> => ({
  replacedCount: 1,
  sentKeys: [sentTimes(key, count + 1)],
});

/** What is shown by runs that end like this, one after another: the client gives up, waits, or resends. */
async function shown(letters: string, only?: readonly string[]): Promise<string> {
  const ends: Readonly<Record<string, Partial<RunEnd>>> = { g: silent, w: early(undefined), r: early(300) };
  let count = 0;
  let isSuspect = false;
  const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
    if (onRequest.gets.kind === "late") isSuspect = true;
    if (name !== timed) return silent;
    count += 1;
    return ends[letters.charAt(count - 1)];
  }, only && { only });
  const result = resultsOf((await judgeResends(runs)).checks)[timed];
  if (isSuspect) return "suspect";
  const { why = "" } = reasonOf(result) ?? {};
  if (why === "certify was stopped") return "one_more_run";
  return result?.kind === "not_judged" ? why.replace(/^.*, /, "") : String(result?.kind);
}

test.each([
  ["g", "held"],
  ["w", "one_more_run"],
  ["ww", "held"],
  ["r", "one_more_run"],
  ["rr", "suspect"],
  ["wrr", "suspect"],
  ["rwr", "suspect"],
  ["rwww", "one_more_run"],
  ["rwwww", "but only in some runs"],
  ["wwr", "held"],
])("what follows in runs %s shows: %s", async (runs, expected) => {
  expect(await shown(runs)).toBe(expected);
});

test.each(["rg", "wg"])("a run that sent more forbids that a later one holds: %s", async (runs) => {
  expect(await shown(runs)).toBe("but only in some runs");
});

test("a kind with a time that is tried alone takes three waits", async () => {
  expect(await shown("ww", [timed])).toBe("one_more_run");
  expect(await shown("www", [timed])).toBe("held");
});

test("a failure that must come twice holds after two runs", async () => {
  expect(await shown("g", [timed])).toBe("one_more_run");
  expect(await shown("gg", [timed])).toBe("held");
  expect(await shown("gr", [timed])).toBe("but only in some runs");
});

test("a 401 that comes again after the last request, and after each in turn, is a problem, whose request id is named once", async () => {
  const { result, problems, names } = await resendsOf("resend.401", { last: resent, first: resent });
  expect(result?.kind).toBe("failed");
  expect(names.filter((name) => name === "resend.401")).toHaveLength(2 + 8 + 3);
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "Sends ACTIVE again after a 401 (request active-3), and not after a 404: by the client, by a test that waits, or by its runner's retry of a failed test",
  ]);
});

test.each<[string, End, RegExp]>([
  [
    "the command survives it",
    passed,
    /^the command passes when the last request with SVC_KEY_ACTIVE gets a 401/,
  ],
  ["no request was hit", { ...passed, replacedCount: 0 }, /^no request was hit$/],
  ["the command failed before", { ...silent, replacedCount: 0 }, /^no request was hit$/],
  [
    "the command then failed",
    { ...resent, result: "failed" },
    /^after a 401, .* \(active-3\), and the command then failed$/,
  ],
  [
    "it comes again in one run of two",
    (before) => (before === 0 ? resent : silent),
    /, but only in some runs$/,
  ],
  ["the command ends late", { ...resent, result: "timed_out" }, /^the command did not end in time$/],
])("a 401 is not judged if %s", async (_, last, why) => {
  expect((await resendsOf("resend.401", { last })).why).toMatch(why);
});

test.each<[string, End, RegExp]>([
  ["nothing follows", passed, /, but not when its request 1 of 2 got a 401$/],
  ["the command fails at once", silent, /, but not when its request 1 of 2 got a 401$/],
  [
    "the command fails",
    { ...resent, result: "failed" },
    /, but the command failed when its request 1 of 2 got a 401$/,
  ],
  [
    "nothing follows in one run of four",
    (before) => (before === 2 ? passed : resent),
    /, but not when its request 1 of 2 got a 401$/,
  ],
  ["the command ends late", { ...resent, result: "timed_out" }, /^the command did not end in time$/],
])("a 401 that comes again is no problem if, after the first request, %s", async (_, first, why) => {
  expect((await resendsOf("resend.401", { last: resent, first })).why).toMatch(why);
});

test("a turn that fails although the key came again is taken once more: a suite may fail by chance", async () => {
  const first = (before: number) => ({ ...resent, result: before === 1 ? "failed" : "passed" }) as const;
  const { result, names } = await resendsOf("resend.401", { last: resent, first });
  expect(result?.kind).toBe("failed");
  expect(names.filter((name) => name === "resend.401")).toHaveLength(2 + 8 + 1 + 3);
});

test("a 429 holds after two waits, and after three if no other kind with a time is tried", async () => {
  const waits = { last: early(undefined) };
  const countOf = async (only?: readonly string[]) => {
    const { result, names } = await resendsOf(timed, waits, only);
    return [result?.kind, names.filter((name) => name === timed).length];
  };
  expect(await countOf()).toEqual(["held", 2]);
  expect(await countOf([timed])).toEqual(["held", 3]);
  expect(await countOf(["resend.429"])).toEqual(["held", 2]);
});

test("a 429 that comes too soon twice is a problem, also after waits and if a later request is the early one", async () => {
  const ends = [
    early(undefined),
    early(310),
    { replacedCount: 1, sentKeys: [sentKey("active", {}, { isReplaced: true }, {}, tooEarly(290))] },
  ];
  const { problems } = await resendsOf(timed, {
    last: (before) => ends[before] ?? early(280),
    first: early(300),
  });
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    "Sends ACTIVE again 310 ms after a 429 with `Retry-After: 4` (request active-3): by the client, by a test that waits, or by its runner's retry of a failed test",
  ]);
});

test.each<[string, { readonly first?: End; readonly late?: End }, RegExp]>([
  [
    "after the first request, it always comes in time",
    { first: early(undefined) },
    /, but in time after its request 1 of 2$/,
  ],
  [
    "a late response has one more, too",
    { first: early(300), late: resent },
    /300 ms later\), but also while a response was only late$/,
  ],
  [
    "the command fails at a late response",
    { first: early(300), late: silent },
    /, but the command failed while a response was only late$/,
  ],
])("a 429 that comes too soon is no problem if %s", async (_, ends, why) => {
  expect((await resendsOf(timed, { last: early(300), ...ends })).why).toMatch(why);
});

test.each([
  ["ninth", 8, "failed"],
  ["tenth", 9, "not_judged"],
] as const)(
  "a client with jitter, whose key comes too soon after the first request only in the %s run, is named up to the ninth",
  async (_, at, kind) => {
    const first = (before: number) => early(before === at ? 3_900 : undefined);
    const { result, names } = await resendsOf(timed, { last: early(300), first });
    expect(result?.kind).toBe(kind);
    expect(names.filter((name) => name === timed)).toHaveLength(2 + 3 + 8 + 5);
  },
);

test("a request that comes too soon after the first one counts, although the last one of the run comes in time", async () => {
  const sent = sentKey("active", { isReplaced: true }, tooEarly(52), {});
  const { result } = await resendsOf(timed, {
    last: early(300),
    first: { replacedCount: 1, sentKeys: [sent] },
  });
  expect(result?.kind).toBe("failed");
});

/** The turns with a client that resends after each 401 and 403, as texts: the key, the number of its request, and the status. */
async function turnsOf(count: number, otherCounts: readonly number[]): Promise<string[]> {
  const counts = new Map([["active", count]]);
  for (const [at, otherCount] of otherCounts.entries()) counts.set(`other-${at + 1}`, otherCount);
  const report = reportCovering("403.insufficient_scope");
  const sentKeys = [...counts].map(([key, sent]) => sentTimes(key, sent));
  const turns: string[] = [];
  const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest?.which.kind === "every_other") return inAnyOrder("active", count);
    if (onRequest?.which.kind !== "nth") return { sentKeys, points: [point], report };
    const { key, nth } = onRequest.which;
    const sent = counts.get(key) as number;
    const [, status = ""] = name.split(".");
    if (status !== "401" && status !== "403") return { ...silent, sentKeys: [sentTimes(key, sent, nth)] };
    turns.push(`${key} ${nth} ${status}`);
    return { replacedCount: 1, sentKeys: [sentTimes(key, sent + 1, nth)] };
  });
  await judgeResends(runs);
  // At first, both kinds have rejected the last request twice.
  return turns.slice(4);
}

test("the turns reject all requests of the key in each round, with another kind than before, and another key twice", async () => {
  expect(await turnsOf(3, [2])).toEqual([
    "active 1 401",
    "active 2 403",
    "active 3 401",
    "active 1 403",
    "active 2 401",
    "active 3 403",
    "other-1 2 401",
    "other-1 2 403",
  ]);
  const turns = await turnsOf(2, [4, 5]);
  expect(turns.filter((turn) => turn.startsWith("other"))).toEqual(["other-1 4 401", "other-2 5 403"]);
});

test("the turns of more requests than turns reject some from the first to the last", async () => {
  const numbers = async (count: number) =>
    (await turnsOf(count, [])).map((turn) => Number(turn.split(" ")[1]));
  expect(await numbers(3)).toEqual([1, 2, 3, 1, 2, 3, 1, 2]);
  expect(await numbers(10)).toEqual([1, 2, 4, 5, 6, 7, 9, 10]);
  expect(await numbers(60)).toEqual([1, 9, 18, 26, 35, 43, 52, 60]);
});

test("more turns of a request that only comes in time go on with the kind after its last one", async () => {
  const turns: string[] = [];
  const { runs } = await handMade(
    ({ name, conditions: { onRequest } }) => {
      if (onRequest?.which.kind === "every_other") return inAnyOrder("active", 2);
      if (onRequest?.which.kind !== "nth") return { sentKeys: [sentTimes("active", 2)], points: [point] };
      if (is404(onRequest.gets)) return silent;
      if (onRequest.gets.kind === "late") return passed;
      if (onRequest.which.nth === 1) turns.push(name);
      return early(onRequest.which.nth === 1 ? undefined : 300);
    },
    { only: ["resend.429"] },
  );
  const kinds = kindsOf((await judgeResends(runs)).checks);
  expect(kinds[timed]).toBe("not_judged");
  const [without, seconds, date] = ["resend.429.without", timed, "resend.429.date"];
  // Of eight turns, four are of the first request.
  expect(turns.slice(0, 4)).toEqual([without, seconds, date, without]);
  expect(turns.slice(4)).toEqual([seconds, date, without, seconds, date]);
});

/** A client that sends the key again after these requests, of three, if they get a 401 or a 403. */
async function resendingAfter(isAgain: (nth: number, kind: string) => boolean) {
  const report = reportCovering("403.insufficient_scope");
  const turns: string[] = [];
  const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest === undefined) return { sentKeys: [sentTimes("active", 3)], points: [point], report };
    const nth = onRequest.which.kind === "nth" ? onRequest.which.nth : 0;
    turns.push(`${name} ${nth}`);
    const isRejected = name.startsWith("resend.4") && !name.startsWith("resend.429");
    const end = { replacedCount: 1, sentKeys: [sentTimes("active", 4, nth)] };
    return isRejected && isAgain(nth, name) ? end : { ...silent, sentKeys: [sentTimes("active", 3, nth)] };
  });
  const { checks, problems } = await judgeResends(runs);
  const kinds = kindsOf(checks);
  return { kinds, problems, turns: turns.filter((turn) => !turn.startsWith("resend.429")) };
}

test("kinds that are one problem share the eight runs, in which each has another request", async () => {
  const { problems, turns } = await resendingAfter(() => true);
  expect(problems.map(({ runs }) => runs)).toEqual([["resend.401", "resend.403.insufficient_scope"]]);
  const inTurn = turns.filter((turn) => /401|403/.test(turn)).slice(4);
  expect(inTurn.map((turn) => turn.replace(/resend\.(4..)\S*/, "$1"))).toEqual([
    // In any order: every other request.
    "401 0",
    "403 0",
    "401 0",
    "401 1",
    "403 2",
    "401 3",
    "403 1",
    "401 2",
    "403 3",
    "401 1",
    "403 2",
  ]);
});

test("a request in the middle that nothing follows leaves all kinds of its problem open", async () => {
  const { kinds, problems } = await resendingAfter((nth) => nth !== 2);
  expect(problems).toEqual([]);
  expect([kinds["resend.401"], kinds["resend.403.insufficient_scope"]]).toEqual(["not_judged", "not_judged"]);
});

test("a kind that holds takes no part in the turns", async () => {
  const { kinds, problems } = await resendingAfter((_, kind) => kind === "resend.401");
  expect(problems.map(({ runs }) => runs)).toEqual([["resend.401"]]);
  expect(kinds["resend.403.insufficient_scope"]).toBe("held");
});

test("a late response is later than each early request came, in whole seconds", async () => {
  const delays: unknown[] = [];
  let earlyRuns = 0;
  const { runs } = await handMade(({ conditions: { onRequest } }) => {
    if (onRequest?.gets.kind === "late") delays.push(onRequest.gets.seconds);
    if (onRequest === undefined || onRequest.gets.kind === "late") {
      return { sentKeys: [sentTimes("active", 2)], points: [point] };
    }
    if (is404(onRequest.gets)) return silent;
    earlyRuns += 1;
    return early(earlyRuns % 2 === 0 ? 300 : 1_600);
  });
  await judgeResends(runs);
  expect([...new Set(delays)]).toEqual([3]);
});

test("the run with a late response may take as long as this response is late, and then as long as usual", async () => {
  const waits: number[] = [];
  const { runs } = await handMade(({ conditions: { onRequest }, clientMayWaitMs }) => {
    if (onRequest?.gets.kind === "late") waits.push(clientMayWaitMs);
    if (onRequest === undefined || onRequest.gets.kind === "late") {
      return { sentKeys: [sentTimes("active", 2)], points: [point] };
    }
    return is404(onRequest.gets) ? silent : early(40_200);
  });
  await judgeResends(runs);
  expect([...new Set(waits)]).toEqual([41_000 + 30_000]);
});

test("a request after a rejection in another process is not judged, as no run shows that process's clock", async () => {
  const last: Partial<RunEnd> = {
    replacedCount: 1,
    sentKeys: [sentKey("active", {}, { isReplaced: true }, { afterRejection: { kind: "by_other_process" } })],
  };
  expect((await resendsOf(timed, { last })).why).toMatch(/^another process of the command/);
  expect((await resendsOf("resend.401", { last, first: last })).result?.kind).toBe("failed");
});

test("an early request shows no resend in a turn whose extra request came in another process", async () => {
  const first: Partial<RunEnd> = {
    replacedCount: 1,
    sentKeys: [
      sentKey("active", { isReplaced: true }, tooEarly(300), {
        afterRejection: { kind: "by_other_process" },
      }),
    ],
  };
  expect((await resendsOf(timed, { last: early(300), first })).why).toMatch(
    /^another process of the command/,
  );
});

test.each(["resend.401", timed])(
  "a request more is no resend in a run that rejected none: %s",
  async (kind) => {
    const last: Partial<RunEnd> = { replacedCount: 0, sentKeys: [sentTimes("active", 3)] };
    expect((await resendsOf(kind, { last, first: last })).why).toBe("no request was hit");
  },
);

test("with --only, what holds after a failure needs a second one, in which no request follows either", async () => {
  const heldAfter = async (second: Partial<RunEnd>) =>
    resendsOf("resend.401", { last: (before) => (before === 0 ? silent : second) }, ["resend.401"]);
  expect((await heldAfter(silent)).result).toEqual({ kind: "held", key: "active" });
  expect((await heldAfter(resent)).why).toMatch(/, but only in some runs$/);
  expect((await heldAfter(passed)).why).toMatch(/^the command passes when the last request/);
});

test("a 401 does not hold if a varied run that passed got more of them; a 429 does, since a client may ask again", async () => {
  const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
    const rejections = name === "varied.3" ? 2 : 1;
    const limited = sentKey(
      "rate-limited",
      ...Array.from({ length: rejections }, () => ({ outcome: "429.per_minute" }) as const),
    );
    const revoked = sentKey(
      "revoked",
      ...Array.from({ length: rejections }, () => ({ outcome: "401.revoked" }) as const),
    );
    return onRequest === undefined
      ? { sentKeys: [sentTimes("active", 2), revoked, limited], points: [point] }
      : { ...silent, sentKeys: [sentTimes("active", 2, 2), revoked, limited] };
  });
  const { checks } = await judgeResends(runs);
  const kinds = kindsOf(checks);
  expect([kinds["resend.401"], kinds[timed]]).toEqual(["not_judged", "held"]);
});

test.each<[string, Partial<RunEnd>, "held" | "not_judged"]>([
  [
    "passed, and the key came again",
    { result: "passed", sentKeys: [sentTimes("active", 3, 1)] },
    "not_judged",
  ],
  ["passed, and nothing more came", { result: "passed", sentKeys: [sentTimes("active", 2, 1)] }, "held"],
  ["failed, and the key came again", { result: "failed", sentKeys: [sentTimes("active", 3, 1)] }, "held"],
  [
    "passed, and another key was hit",
    { result: "passed", sentKeys: [sentTimes("live", 2, 1), sentTimes("active", 3)] },
    "held",
  ],
])("a run whose first request gets a 401 for a wrong answer %s: a 401 is %s", async (_, end, expected) => {
  const report = reportCovering("200.test");
  const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point], report };
    return name === "answer.200.test" ? { replacedCount: 1, ...end } : silent;
  });
  const { checks } = await judgeResends(runs);
  const kinds = kindsOf(checks);
  expect([kinds["resend.401"], kinds[timed]]).toEqual([expected, "held"]);
});

/** A client that sends the key `active` again after each 401, and whose key `live` is rejected in two of the turns with this end. */
async function withOtherKey(ofLive: Partial<RunEnd>) {
  const plain = [sentTimes("active", 4), sentTimes("live", 1)];
  const { runs, names } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest?.which.kind === "every_other") {
      return { replacedCount: 4, sentKeys: [sentTimes("active", 8)] };
    }
    if (onRequest?.which.kind !== "nth") return { sentKeys: plain, points: [point] };
    if (name !== "resend.401") return { ...silent, sentKeys: [sentTimes("active", 4, 4)] };
    if (onRequest.which.key === "live") return { replacedCount: 1, ...ofLive };
    return { replacedCount: 1, sentKeys: [sentTimes("active", 5, onRequest.which.nth)] };
  });
  const { checks, problems } = await judgeResends(runs);
  const result = resultsOf(checks)["resend.401"];
  const count = names.filter((name) => name === "resend.401").length;
  return { kind: result?.kind, why: reasonOf(result)?.why, problems: problems.length, count };
}

test("nobody is accused whose other key is not sent again: all tests with the first one may poll", async () => {
  expect(await withOtherKey({ result: "failed", sentKeys: [sentTimes("live", 1, 1)] })).toEqual({
    kind: "not_judged",
    why: "requests with ACTIVE are sent again (active-5), those with LIVE are not",
    problems: 0,
    count: 2 + 3 + 8,
  });
});

test.each<[string, Partial<RunEnd>]>([
  ["is sent again, too", { sentKeys: [sentTimes("live", 2, 1)] }],
  ["has a response that no test uses", { sentKeys: [sentTimes("live", 1, 1)] }],
])("a client is named whose other key %s, after eight turns in all", async (_, ofLive) => {
  expect(await withOtherKey(ofLive)).toMatchObject({ kind: "failed", problems: 1, count: 2 + 8 + 3 });
});

test("a client is named after all of its turns, although the runs of another kind were not made", async () => {
  const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
    if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
    if (is404(onRequest.gets)) return silent;
    if (name !== "resend.401") return undefined;
    if (onRequest.which.kind !== "nth") return { replacedCount: 1, sentKeys: [sentTimes("active", 3)] };
    return { replacedCount: 1, sentKeys: [sentTimes("active", 3, onRequest.which.nth)] };
  });
  const kinds = kindsOf((await judgeResends(runs)).checks);
  expect([kinds["resend.401"], kinds[timed]]).toEqual(["failed", "not_judged"]);
});

test("a kind of which not all runs are made is not judged", async () => {
  const { runs } = await handMade(({ name, conditions: { onRequest } }, before) => {
    if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
    if (is404(onRequest.gets)) return silent;
    if (name === timed && before === 1) return undefined;
    return name === timed ? early(undefined) : silent;
  });
  const { checks } = await judgeResends(runs);
  expect(reasonOf(resultsOf(checks)[timed])?.why).toBe("certify was stopped");
});

test("nobody is accused in whose tests one gives up, which no turn has met: every other request is rejected", async () => {
  const endInAnyOrder = async (end: Partial<RunEnd>) => {
    const { runs } = await handMade(({ name, conditions: { onRequest } }) => {
      if (onRequest === undefined) return { sentKeys: [sentTimes("active", 2)], points: [point] };
      if (name !== "resend.401") return silent;
      return onRequest.which.kind === "every_other" ? end : resent;
    });
    return resultsOf((await judgeResends(runs)).checks)["resend.401"];
  };
  const sent = (count: number) => [sentTimes("active", count)];
  expect((await endInAnyOrder({ replacedCount: 2, sentKeys: sent(4) }))?.kind).toBe("failed");
  for (const end of [
    { result: "failed", replacedCount: 2, sentKeys: sent(3) },
    { replacedCount: 2, sentKeys: sent(3) },
  ] as const) {
    expect(reasonOf(await endInAnyOrder(end))?.why).toBe(
      "SVC_KEY_ACTIVE was sent again (active-3), but not each time when every other request with it got a 401",
    );
  }
});
