import fc from "fast-check";
import { expect, test } from "vitest";
import { failed } from "../../test/certify/certified.js";
import { asked } from "../../test/support/send.js";
import { observe } from "../../test/support/varied.js";
import { conditionedRun } from "../api/conditioned-run.js";
import { handle } from "../api/handle.js";
import { nodePlatform } from "../node/platform.js";
import type { ReportedAdvice } from "../report/report-shape.js";
import { type ApiPathId, outcomeOf } from "../rules/outcomes.js";
import type { Experiment, Observation } from "../sandbox/conditions.js";
import { scenarioSecret } from "../sandbox/secrets.js";
import { startSandbox } from "../sandbox/start.js";
import { bundledScenarios } from "../scenario/bundled.js";
import type { RetryResult } from "./result.js";
import {
  type CountedRun,
  confirmedRuns,
  controlFor,
  type ExperimentRun,
  experimentsFor,
  isOver,
  retryFacts,
  retryResults,
  withRetries,
} from "./retries.js";

const pathOf = {
  active: "200.test",
  live: "200.live",
  ending: "429.per_minute",
  revoked: "401.revoked",
  expired: "401.expired",
  "wrong-scope": "403.insufficient_scope",
  inactive: "403.access_denied",
  limited: "429.per_day",
} as const satisfies Record<string, ApiPathId>;
type Key = keyof typeof pathOf;
const keys = (Object.keys(pathOf) as Key[]).filter((key) => key !== "ending");

/** A client and its tests; each test sends keys, and fails at the first response with another status than usual. */
interface Client {
  readonly tests: readonly (readonly Key[])[];
  /** The number of retries after each status. */
  readonly retries: Readonly<Record<number, number>>;
  /** The number of times that a failing test is run again. */
  readonly reruns: number;
  /** Whether the first failing test ends the run. */
  readonly bail: boolean;
  /** Whether each key is sent several times at once. */
  readonly burst: number;
  /** Whether it sends a key no more once it got 200. */
  readonly caches: boolean;
  /** Whether each test has its own sandbox. */
  readonly isolated: boolean;
}

const usual = { tests: [], retries: {}, reruns: 0, bail: false, burst: 1, caches: false, isolated: false };
const calm: Client = usual;

/** The requests of a client, when each key was sent, and whether a test failed; the response depends on the key and its number. */
function run(
  { tests, retries, reruns, bail, burst, caches, isolated }: Client,
  respond: (key: Key, nth: number, number: number) => number,
): CountedRun & { readonly timesOf: (key: string, nth: number) => readonly number[] } {
  const sent: { key: Key; nth: number; box: number; paths: ApiPathId[]; times: number[] }[] = [];
  const stored = new Set<string>();
  let now = 0;
  let box = 0;
  // A test of the end of a minute moves the clock after its first response.
  let isNextMinute = false;
  const send = (key: Key) => {
    const nth = sent.filter((one) => one.key === key).length;
    const known = sent.find((one) => one.key === key && one.box === box);
    const place = known ?? { key, nth, box, paths: [], times: [] };
    if (known === undefined) sent.push(place);
    place.times.push(++now);
    const isOver = key === "ending" && isNextMinute;
    place.paths.push(isOver ? "200.test" : pathOf[key]);
    const status = respond(key, place.nth, place.times.length);
    return isOver && status === 429 ? 200 : status;
  };
  const call = (key: Key) => {
    if (stored.has(`${box} ${key}`)) return 200;
    let status = send(key);
    for (let left = retries[status] ?? 0; left > 0; left--) status = send(key);
    if (caches && status === 200) stored.add(`${box} ${key}`);
    return status;
  };
  const passes = (steps: readonly Key[]) => {
    if (isolated) box += 1;
    return steps.every((key) => {
      const statuses = Array.from({ length: burst }, () => call(key));
      isNextMinute ||= key === "ending";
      return statuses.every((status) => status === statusOf(key) || (key === "ending" && status === 200));
    });
  };
  let failed = false;
  for (const steps of tests) {
    let isFine = passes(steps);
    for (let left = reruns; !isFine && left > 0; left--) isFine = passes(steps);
    failed ||= !isFine;
    if (!isFine && bail) break;
  }
  const timesOf = (key: string, nth: number) =>
    sent.find((one) => one.key === key && one.nth === nth)?.times ?? [];
  return { sent, timesOf, failed };
}

const statusOf = (key: Key) => outcomeOf(pathOf[key]).status;

function made(client: Client, experiment: Experiment): ExperimentRun {
  const { id, key, nth, last } = experiment;
  const status = { outage: 503, control: 200 }[id as string] ?? Number(id.slice(0, 3));
  const { timesOf, ...counted } = run(client, (one, place, number) =>
    one === key && place === nth && number >= last ? status : statusOf(one),
  );
  const times = timesOf(key, nth).slice(last - 1);
  return { ...counted, experiment, times, repeats: Math.max(0, times.length - 1), silentMs: 0 };
}

/** The results of the experiments with a client, except for the passed ones. */
function resultsOf(client: Client): Record<string, RetryResult["outcome"]> {
  const baseline = run(client, statusOf);
  const tried = experimentsFor(baseline).map((one) => made(client, one));
  const control = controlFor(baseline, tried);
  const results = retryResults([baseline], tried, control && made(client, control));
  return Object.fromEntries(
    results
      .flatMap(({ after, outcome }) =>
        outcome === "passed" ? [] : [[after.replace(" with Retry-After", ""), outcome]],
      )
      // These have the results of the ones with seconds.
      .filter(
        ([after = ""]) => !["429 with a date", "429 without Retry-After", "503 with a date"].includes(after),
      ),
  );
}

const threeTests: Client["tests"] = [["active"], ["revoked"], ["revoked"], ["revoked"], ["inactive"]];
const [retried, open] = ["failed", "not_tried"] as const;
const all = { "401": open, "403": open, "429": open, "503": open };

test.each<[string, Partial<Client>, Record<string, RetryResult["outcome"]>]>([
  ["three tests that send the revoked key", { tests: threeTests }, {}],
  ["a burst of each key", { tests: [keys], burst: 5 }, {}],
  ["a test that sends a rejected key twice, and stops", { tests: [["active"], ["revoked", "revoked"]] }, {}],
  ["three tests, of which the first failure ends the run", { tests: threeTests, bail: true }, {}],
  ["tests that a runner runs again", { tests: threeTests, reruns: 2 }, all],
  [
    "a retry after each status, with a test of the end of a minute last",
    {
      tests: [["active"], ["revoked"], ["inactive"], ["limited"], ["ending", "ending"]],
      retries: { 401: 2, 403: 2, 429: 2 },
    },
    { "401": retried, "403": retried, "429": retried },
  ],
  [
    "a test that revokes the key in its own sandbox",
    { tests: [["active"], ["revoked"]], isolated: true, retries: { 401: 1 } },
    { "401": retried },
  ],
  [
    "sandboxes that get the key several times",
    { tests: [["active", "active"], ["active"], ["revoked"]], isolated: true },
    {},
  ],
  ["no accepted key", { tests: [["revoked"], ["expired"]], retries: { 401: 1 } }, { ...all, outage: open }],
  ["retries next to a burst of 403", { tests: [keys], retries: { 429: 1 }, burst: 2 }, { "429": retried }],
  ["no retry of a 403 that the tests do not cover", { tests: [["active"], ["revoked"]] }, {}],
  [
    "a retry of a 403 that the tests do not cover",
    { tests: [["active"], ["revoked"]], retries: { 403: 1 } },
    { "403": retried },
  ],
  ["five tries in an outage", { tests: [keys], retries: { 503: 4 } }, { "503": retried }],
  [
    "nine tries in an outage without a pause",
    { tests: [keys], retries: { 503: 8 } },
    { "503": retried, outage: retried },
  ],
  [
    "stored responses, which eight tests ask for",
    { tests: [...Array(8).fill(["active"]), ["revoked"]], caches: true },
    { ...all, outage: open },
  ],
])("a retry is what the client does only because of a response: %s", (_, client, results) => {
  expect(resultsOf({ ...calm, ...client })).toEqual(results);
});

const suites = fc
  .array(fc.array(fc.constantFrom(...keys), { minLength: 1, maxLength: 5 }), { maxLength: 6 })
  .map((tests): Client["tests"] => [["active"], ...tests]);
const clients = fc.record({ tests: suites, bail: fc.boolean(), burst: fc.integer({ min: 1, max: 4 }) });
const foundIn = (client: Client) =>
  Object.entries(resultsOf(client)).flatMap(([after, outcome]) => (outcome === "failed" ? after : []));

test("a client that sends each key as often as its tests require never gets a warning", () => {
  fc.assert(
    fc.property(clients, fc.nat({ max: 2 }), (client, reruns) => {
      expect(foundIn({ ...calm, ...client, reruns })).toEqual([]);
    }),
  );
});

test("a client that retries is accused of each status that it retries after, and of no other", () => {
  const retries = fc.record(Object.fromEntries([401, 403, 429].map((one) => [one, fc.nat({ max: 3 })])));
  fc.assert(
    fc.property(clients, retries, (client, retries) => {
      const wanted = ["401", "403", "429"].filter((status) => Number(retries[status]) > 0);
      // If it retries after each, its tests must show that it stores no responses.
      const covered = client.tests.flat().map((key) => String(statusOf(key)));
      fc.pre(wanted.length < 3 || wanted.every((status) => covered.includes(status)));
      expect(foundIn({ ...calm, ...client, retries })).toEqual(wanted);
    }),
  );
});

const baseline: CountedRun = { sent: [{ key: "active", nth: 0, paths: ["200.test"] }], failed: false };

test("experiments choose a key that all runs send equally often before one with more requests", () => {
  const sending = (active: number, live: number): CountedRun => ({
    sent: [
      { key: "active", nth: 0, paths: Array(active).fill("200.test") },
      { key: "live", nth: 0, paths: Array(live).fill("200.live") },
    ],
    failed: false,
  });
  const keyWith = (...others: CountedRun[]) => experimentsFor(sending(3, 1), 1, others)[0]?.key;
  expect([keyWith(), keyWith(sending(3, 1)), keyWith(sending(3, 1), sending(2, 1))]).toEqual([
    "active",
    "active",
    "live",
  ]);
  const made = experimentsFor(sending(3, 1), 1, [sending(2, 1)]).map((experiment) => {
    return { ...sending(1, 1), experiment, failed: true, times: [0], repeats: 0, silentMs: 0 };
  });
  const results = retryResults([sending(3, 1), sending(2, 1)], made, undefined);
  expect(results.map(({ outcome }) => outcome)).toEqual(Array(8).fill("passed"));
});

test("a rejection that fails no test shows nothing: the client may have returned a stored response", () => {
  const made = experimentsFor(baseline).map((experiment) => ({
    ...baseline,
    experiment,
    times: [0],
    repeats: 0,
    silentMs: 0,
  }));
  const outcomesOf = (failed: boolean) =>
    retryResults(
      [baseline],
      made.map((run) => ({ ...run, failed })),
      undefined,
    ).map(({ outcome }) => outcome);
  expect(outcomesOf(true)).toEqual(Array(8).fill("passed"));
  expect(outcomesOf(false)).toEqual(["not_tried", "not_tried", ...Array(6).fill("passed")]);
});
const experimentOf = (id: Experiment["id"]) => {
  const [one] = experimentsFor(baseline).filter((experiment) => experiment.id === id);
  return one as Experiment;
};
/** An experiment whose requests came at these times. */
const madeAt = (
  id: Experiment["id"],
  times: readonly number[],
  more: Partial<ExperimentRun> = {},
): ExperimentRun => ({
  ...baseline,
  experiment: experimentOf(id),
  times,
  repeats: times.length - 1,
  silentMs: 0,
  ...more,
});
const every = (pause: number, count: number) => Array.from({ length: count }, (_, index) => index * pause);
const silent = { isTimedOut: true, repeats: 0 };

test.each<[string, Experiment["id"], number[], Partial<ExperimentRun>, RetryResult["outcome"]]>([
  ["six requests without a pause", "outage", every(999, 6), {}, "passed"],
  ["seven requests without a pause", "outage", every(999, 7), {}, "failed"],
  ["seven requests, a second apart", "outage", every(1000, 7), {}, "passed"],
  [
    "a pause among ten requests",
    "outage",
    [...every(1, 5), ...every(1, 5).map((at) => at + 1004)],
    {},
    "passed",
  ],
  ["20 requests", "outage", every(1000, 20), {}, "passed"],
  ["21 requests", "outage", every(1000, 21), {}, "failed"],
  ["ten requests until its time is over", "outage", every(1000, 10), { isTimedOut: true }, "passed"],
  ["eleven requests until its time is over", "outage", every(1000, 11), { isTimedOut: true }, "failed"],
  ["one request until its time is over", "403", [0], silent, "not_tried"],
  ["a minute of silence", "429 without Retry-After", [0], { ...silent, silentMs: 59_950 }, "passed"],
  [
    "almost a minute of silence",
    "429 without Retry-After",
    [0],
    { ...silent, silentMs: 59_949 },
    "not_tried",
  ],
  ["no request", "403", [], {}, "not_tried"],
])("a client that sends %s (%s, %#)", (_, id, times, more, outcome) => {
  const made = [madeAt("401", [0]), madeAt(id, times, more)];
  expect(retryResults([baseline], made, undefined).find(({ after }) => after === id)?.outcome).toBe(outcome);
});

const controlled = (more: Partial<ExperimentRun> = {}): ExperimentRun => ({
  sent: [],
  failed: true,
  times: [0],
  repeats: 0,
  silentMs: 0,
  ...more,
  experiment: { id: "control", key: "revoked", nth: 0, last: 1, pathId: "401.revoked" },
});
/** What the requests of a run show. */
const triedIn = (seen: readonly Observation[]) => ({
  hits: seen.filter(({ hit }) => hit !== undefined).length,
  times: seen.flatMap(({ tried }) => tried ?? []),
  silentMs: 0,
});

/** What a key gets in an experiment, if it is sent at these times; the sandbox's clock stays in its minute, the wall goes on. */
function responsesAt(experiment: Experiment, times: readonly number[], { wall = 20, advance = 0 } = {}) {
  const now = Date.UTC(2026, 2, 2, 9, 0, 20);
  let passed = 0;
  const platform = {
    ...nodePlatform,
    time: () => now + (wall - 20) * 1000 + passed,
    steadyTime: () => now + passed,
    stopwatch: () => passed,
    run: conditionedRun({ experiment }),
  };
  const sandbox = startSandbox(bundledScenarios["key-states"], { platform, now });
  const seen = observe(sandbox);
  const responses = times.map((at, index) => {
    passed = at;
    if (index === 1 && advance > 0) sandbox.clock.advance(advance);
    const { response } = handle(sandbox, asked({ apiKey: scenarioSecret(sandbox, experiment.key) }));
    const header = response.headers.indexOf("Retry-After");
    return header < 0 ? response.status : `${response.status} ${response.headers[header + 1]}`;
  });
  const shown = triedIn(seen);
  return { responses, isOver: isOver(shown.hits), ...retryFacts(shown) };
}

test.each<[string, number[], { wall?: number; advance?: number }, (number | string)[]]>([
  ["429 with Retry-After", [0, 2949, 2950], {}, ["429 3", "429 3", 200]],
  ["429 with Retry-After", [0, 1], { advance: 2950 }, ["429 3", 200]],
  [
    "429 with a date",
    [0, 2949, 2950],
    { wall: 50 },
    ["429 Mon, 02 Mar 2026 09:00:53 GMT", "429 Mon, 02 Mar 2026 09:00:56 GMT", 200],
  ],
  ["429 without Retry-After", [0, 39_949, 39_950], {}, [429, 429, 200]],
  ["429 without Retry-After", [0, 9_999, 10_000], { wall: 50 }, [429, 429, 200]],
  ["429 without Retry-After", [0, 1], { advance: 40_000 }, [429, 200]],
  ["503 with Retry-After", [0, 2949, 2950], {}, ["503 3", "503 3", 200]],
  [
    "503 with a date",
    [0, 2949, 2950],
    { wall: 50 },
    ["503 Mon, 02 Mar 2026 09:00:53 GMT", "503 Mon, 02 Mar 2026 09:00:56 GMT", 200],
  ],
  ["401", [0, 90_000], {}, [401, 401]],
  ["outage", [0, 90_000], {}, [503, 503]],
])("%s ends when its time has passed, on any clock: %j %j", (id, times, more, responses) => {
  expect(responsesAt(experimentOf(id as "401"), times, more).responses).toEqual(responses);
});

test("an experiment starts with the last request of the baseline, and is over after 21 responses", () => {
  const experiment = { ...experimentOf("401"), last: 3 };
  expect(responsesAt(experiment, [1, 2, 30, 31])).toEqual({
    responses: [200, 200, 401, 401],
    times: [0, 1],
    repeats: 1,
    silentMs: 0,
    isOver: false,
  });
  expect(responsesAt({ ...experiment, nth: 1 }, [1, 2, 3, 4]).responses).toEqual([200, 200, 200, 200]);
  expect(responsesAt(experiment, [1, 2])).toMatchObject({ times: [], repeats: 0 });
  expect(responsesAt(controlled().experiment, [1]).responses).toEqual([200]);
  const max = (count: number) => responsesAt(experimentOf("401"), every(1, count));
  expect([max(20).isOver, max(21).isOver, max(25).repeats, max(25).times.length]).toEqual([
    false,
    true,
    20,
    21,
  ]);
});

test("a request after a rejection counts also if a fault of the scenario responds to it", () => {
  // biome-ignore lint/suspicious/noThenProperty: a fault of the scenario format
  const faults = [{ when: { key: "active", requests: [2] }, then: { status: 503 as const } }];
  const run = conditionedRun({ experiment: experimentOf("401") });
  const sandbox = startSandbox(
    { ...bundledScenarios["key-states"], faults },
    { platform: { ...nodePlatform, run } },
  );
  const seen = observe(sandbox);
  for (let n = 0; n < 2; n++) handle(sandbox, asked({ apiKey: scenarioSecret(sandbox, "active") }));
  expect(retryFacts(triedIn(seen))).toMatchObject({ repeats: 1 });
});

test("a request or two after a rejection count only if another run confirms them, and the third run decides", () => {
  const [rejected, , , , unnamed] = experimentsFor(run({ ...calm, tests: [["active"]] }, statusOf));
  const after = (experiment: Experiment | undefined, repeats: number, ...times: number[]) =>
    ({ ...run(calm, statusOf), experiment, times, repeats, silentMs: 0 }) as ExperimentRun;
  const once = after(rejected, 1, 0, 5);
  const never = after(rejected, 0, 0);
  expect(confirmedRuns([never])).toEqual([never]);
  expect(confirmedRuns([after(rejected, 3)])).toHaveLength(1);
  expect([confirmedRuns([once]), confirmedRuns([once, never])]).toEqual([undefined, undefined]);
  expect([confirmedRuns([once, once]), confirmedRuns([once, never, once])]).toEqual([[once], [once]]);
  expect(confirmedRuns([once, never, never])).toEqual([never]);
  // A minute may have ended between both requests.
  expect(confirmedRuns([after(unnamed, 0, 0, 20_000)])).toBeUndefined();
  expect(confirmedRuns([after(unnamed, 0, 0, 40_000)])).toHaveLength(1);
});

const sentTo = (...counts: number[]) =>
  counts.map((count, nth) => ({ key: "active", nth, paths: Array<ApiPathId>(count).fill("200.test") }));
const rejected = { key: "revoked", nth: 0, paths: ["401.revoked", "401.revoked"] } as const;
test.each<[string, number[], number[], number[][], ExperimentRun | undefined, string]>([
  ["as often, and a test checks", [1], [2], [], controlled(), "failed"],
  ["as often, and no test checks", [1], [2], [], controlled({ failed: false }), "No test fails when revoked"],
  ["as often, without a control", [1], [2], [], undefined, "Your tests send no key"],
  [
    "as often, without a request of the control",
    [1],
    [2],
    [],
    controlled({ times: [] }),
    "The runs do not send revoked",
  ],
  ["more in another run", [1], [2], [[2]], controlled(), "The runs do not send active equally"],
  ["less in another run", [2], [3], [[1]], controlled(), "failed"],
  ["more to an earlier sandbox", [1, 2], [2, 3], [], controlled(), "The runs do not send active equally"],
  ["as often to an earlier sandbox", [1, 2], [1, 3], [], controlled(), "failed"],
])("a key is sent %s: what an experiment shows", (_, before, during, others, control, expected) => {
  const all = (counts: number[]): CountedRun => ({ sent: [...sentTo(...counts), rejected], failed: false });
  const [one] = experimentsFor(all(before)) as [Experiment];
  const tried = { ...all(during), failed: true, experiment: one, times: [0, 9], repeats: 1, silentMs: 0 };
  const [result] = retryResults([all(before), ...others.map(all)], [tried], control);
  expect(result?.outcome === "failed" ? "failed" : result?.sentence).toMatch(new RegExp(`^${expected}`));
});

test("findings are errors of the report, and experiments that were not tried are one warning", () => {
  const after = (id: RetryResult["after"], outcome: RetryResult["outcome"], what = "") => ({
    after: id,
    outcome,
    sentence: `${id} ${outcome}.`,
    whatToDo: what,
  });
  const [advice] = failed.report.advice as [ReportedAdvice];
  const before = {
    ...failed.report,
    advice: [advice, { ...advice, id: "sent-again-after-rejection" } as const],
  };
  const { advice: found } = withRetries(before, [
    after("403", "failed"),
    after("401", "passed"),
    after("outage", "not_tried", "A."),
    after("429 with Retry-After", "failed"),
    after("429 without Retry-After", "failed"),
  ]);
  expect(found.map(({ id, count }) => `${id} ${count}`).sort()).toEqual([
    "retries-not-tried 1",
    `same-key-after-401 ${advice.count}`,
    "same-key-after-403 1",
    "too-soon-after-429 2",
  ]);
  const [open] = found.filter(({ id }) => id === "retries-not-tried");
  expect([open?.whatToDo, open?.meaning]).toEqual(["A.", expect.stringContaining("outage not_tried.")]);
  expect([withRetries(before), withRetries(before, [])]).toEqual([before, before]);
});
