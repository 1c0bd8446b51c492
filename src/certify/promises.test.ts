import { expect, test } from "vitest";
import { failed, passed } from "../../test/certify/certified.js";
import { coverage, promisedCount } from "../../test/support/coverage.js";
import { me } from "../api/endpoints/me.js";
import { brokenPromises } from "../api/promises.js";
import type { Report } from "../report/report-shape.js";
import { failuresOf } from "./brief.js";
import { renderCertificate } from "./document.js";
import { verdictOf } from "./plan.js";
import {
  noticedSentence,
  notTriedIn,
  notTriedSentence,
  promiseRun,
  promisesIn,
  unmetGates,
  whyTooLittle,
} from "./promises.js";
import type { CertifyResult, PromiseRun, Run, RunOutcome } from "./result.js";

const report = { ...passed.report, coverage: coverage(5) };
const [run] = passed.runs as [Run];

const ended = (id: string, code: number | null, hits = 1): PromiseRun => {
  const promise = brokenPromises.find((one) => one.id === id);
  return promiseRun(promise as never, { code, durationMs: 1, sent: [], points: [], hits }, { sent: [] });
};

test.each<[string, RunOutcome[], Partial<CertifyResult>?]>([
  ["passed", ["passed", "passed", "passed"]],
  ["unusable", ["passed", "passed", "not_run"]],
  ["failed", ["passed", "flaky", "failed"]],
  ["unusable", ["passed", "not_tried"]],
  ["failed", ["passed", "not_tried", "failed"]],
  ["failed", ["passed", "timed_out"]],
  ["flaky", ["passed", "flaky", "passed"]],
  ["flaky", ["flaky"]],
  ["unusable", ["failed", "not_run"]],
  ["unusable", ["not_run"]],
  [
    "failed",
    ["passed", "passed"],
    { unmet: [{ gate: "advice", threshold: "--fail-on error", sentence: "" }] },
  ],
  ["unusable", ["passed", "passed"], { report: { ...report, coverage: coverage(4) } }],
  ["unusable", ["passed"], { promises: promisesIn("swaps", [ended("200.test:rejected", 0, 0)]) }],
  [
    "passed",
    ["passed"],
    { promises: promisesIn("swaps", [ended("200.test:rejected", 0, 0), ended("200.live:rejected", 1)]) },
  ],
  [
    "unusable",
    ["passed"],
    { promises: promisesIn("swaps", [promiseRun(brokenPromises[0] as never, undefined, { sent: [] })]) },
  ],
])("the verdict is %s after %j, no matter what else happens", (verdict, outcomes, more = {}) => {
  // The baseline is of another profile than the others.
  const runs = outcomes.map((outcome, at): Run => {
    const reason = outcome === "not_tried" && { reason: { why: "Why", whatToDo: "What." } };
    return { ...run, profile: at === 0 ? "minimal" : "varied", outcome, ...reason };
  });
  expect(verdictOf({ ...passed, report, ...more, runs })).toBe(verdict);
});

test("noticed is an exit code other than 0; a run that had to be ended or has no changed response is not tried", () => {
  const id = "401.revoked:accepted";
  expect(
    [ended(id, 3), ended(id, 0), ended(id, null), ended(id, 1, 0)].map(({ outcome }) => outcome),
  ).toEqual(["noticed", "not_noticed", "not_tried", "not_tried"]);
});

test("without --min-noticed each swap must be noticed, and other promises are reported only", () => {
  const gates = { failOn: "error", minCoverage: 0 } as const;
  const missing = [ended("200.test:scopes-empty", 0), ended("401.revoked:accepted", 1)];
  const swaps = [ended("200.test:rejected", 0), ended("401.revoked:accepted", 1, 0)];
  const unmet = (runs: PromiseRun[], more = {}) =>
    unmetGates(report, promisesIn("all", runs), { ...gates, ...more }).map(({ threshold }) => threshold);
  expect(unmet(missing)).toEqual([]);
  expect(unmet(swaps)).toEqual(["--promises swaps"]);
  expect(unmet(missing, { minNoticed: 50 })).toEqual([]);
  expect(unmet(missing, { minNoticed: 51 })).toEqual(["--min-noticed 51"]);
  expect(unmet(swaps, { minNoticed: 0 })).toEqual([]);
  expect(unmet([], { minNoticed: 1 })).toEqual(["--min-noticed 1"]);
  expect(unmet([], { minCoverage: 30 })).toEqual(["--min-coverage 30"]);
});

test("JUnit has a failure for each swap that is not noticed, unless --min-noticed decides", () => {
  const promises = promisesIn("all", [ended("200.test:rejected", 0), ended("200.test:scopes-empty", 0)]);
  const failures = (gates: CertifyResult["gates"]) => {
    const xml = renderCertificate({ ...passed, promises, gates }, "junit");
    return [...xml.matchAll(/name="[^"]* ([\w.]+:[\w-]+)"[^\n]*\n *<failure /g)].map(([, id]) => id);
  };
  expect(failures({ failOn: "error", minCoverage: 0 })).toEqual(["200.test:rejected"]);
  expect(failures({ failOn: "error", minCoverage: 0, minNoticed: 0 })).toEqual([]);
});

const { paths } = report;
const keyless = paths.map((path) => ({ ...path, covered: false, howToCover: null }));
const missing = [
  ...keyless,
  { ...keyless[0], pathId: "401.missing", covered: true },
  { ...paths[2], pathId: "404.unknown_path", promised: false },
] as typeof paths;
const misdirected = [
  { ...failed.report.advice[0], id: "key-in-query", meaning: "M.", whatToDo: "W." },
] as never;
const covers = (covered: number) =>
  `the client covers ${covered} of ${promisedCount} promised paths, and a certificate`;
const keys = "of these keys, and check each response:";
test.each<[Partial<Report>, string | undefined]>([
  [{ coverage: coverage(5) }, undefined],
  [{}, `${covers(4)} needs 5. Send 1 or more ${keys} SVC_KEY_BANK (403.insufficient_scope)`],
  [{ paths: missing }, `the client sends no key in x-api-key. Send 1 or more ${keys} `],
  [
    { paths: keyless, advice: misdirected, coverage: coverage(0) },
    `${covers(0)} needs 5. M. W. Send 5 or more ${keys} `,
  ],
])("a client that covers too little is shown why (%#)", (more, why) => {
  expect(whyTooLittle({ ...report, coverage: coverage(4), ...more })).toBe(why);
});

test("what shows nothing about a client is listed with its reason, and counted", () => {
  const [baseline, made] = passed.runs.concat(passed.runs) as [Run, Run];
  const unmade = promiseRun(brokenPromises[0] as never, undefined, { sent: [] });
  const promises = promisesIn("swaps", [
    ended("401.revoked:accepted", null),
    ended("403.access_denied:another-code", 1, 0),
    ended("200.live:rejected", 1),
    unmade,
  ]);
  const retries = (["401", "403"] as const).map((after, i) => ({
    ...({ after, outcome: i === 0 ? "not_tried" : "passed", sentence: "Why.", whatToDo: "What." } as const),
  }));
  const runs: [Run, Run] = [baseline, { ...made, name: "varied 1", outcome: "not_run" }];
  const all = { ...passed, runs, promises, retries };
  const listed = (more: Partial<CertifyResult> = {}, only?: readonly string[]) =>
    notTriedIn({ ...all, ...more }, only).map(({ kind, what, why }) => `${kind}, ${what}: ${why}`);
  const own = [
    "experiment, retries after 401: Why.",
    "run, varied 1: the run was not made",
    "promise, 401.revoked:accepted: the client was still running when its time was over",
    "promise, 403.access_denied:another-code: the client got no response with it",
    `promise, ${unmade.id}: the run was not made`,
  ];
  const rest = (found: string[]) => found.slice(own.length).map((one) => one.split(/[,:]/)[0]);
  expect(listed({}, [])).toEqual(own);
  expect(listed().slice(0, own.length)).toEqual(own);
  expect(rest(listed())).toEqual(["other_promises", "faults"]);
  expect(rest(listed({ promises: { ...promises, kinds: "none" }, faults: ["fault.hang"] }))).toEqual([
    "broken_promises",
  ]);
  const whole = promisesIn("all", [ended("401.revoked:accepted", 1)]);
  expect(listed({ promises: whole, faults: ["fault.hang"], retries: [], runs: passed.runs })).toEqual([]);
  expect(listed({ promises: promisesIn("none", []), retries: [], runs: [] })).toHaveLength(2);
  const withWrites = notTriedIn(all, undefined, [{ ...me, method: "DELETE" }]);
  expect(withWrites.map(({ kind }) => kind)).toContain("rejected_writes");
  const notTried = notTriedIn(all);
  expect(notTriedSentence({ ...all, notTried })).toBe(
    "Not tried: 1 of 2 experiments, 1 of 2 runs, 3 of 4 promises, other promises, faults.",
  );
  expect(notTriedSentence({ ...all, notTried: [] })).toBeUndefined();
});

test("the sentence of noticed promises names three that are not noticed", () => {
  const missed = ["scopes-empty", "scopes-null", "limits-null", "usage-null"].map((one) =>
    ended(`200.test:${one}`, 0),
  );
  const of = (runs: PromiseRun[]) => noticedSentence(promisesIn("all", runs));
  expect([of([]), of([ended("200.test:rejected", 1)])]).toEqual([
    undefined,
    "Noticed 1 of 1 covered promise.",
  ]);
  expect(of(missed)).toMatch(/^Noticed 0 of 4 covered promises\. Not noticed: (?:[^;]+; ){3}and 1 more\.$/);
  expect(of(missed.slice(1))).toMatch(/ Not noticed: (?:[^;]+; ){2}[^;]+\.$/);
});

test("a certificate has a failure for each promise that the thresholds are about", () => {
  const ids = (more: Partial<CertifyResult>) =>
    failuresOf({ ...failed, runs: passed.runs, ...more }, "").map(({ id }) => id);
  const missed = failed.promises.runs.flatMap(({ id, outcome }) => (outcome === "not_noticed" ? id : []));
  expect(ids({})).toEqual(missed);
  expect(ids({ unmet: [] })).toEqual([]);
  const gates = { failOn: "error", minCoverage: 0 } as const;
  expect(ids({ gates, unmet: unmetGates(report, failed.promises, gates) })).toEqual(["401.revoked:accepted"]);
  const covered = unmetGates(report, failed.promises, { ...gates, minCoverage: 99, minNoticed: 0 });
  expect(ids({ gates: { ...gates, minNoticed: 0 }, unmet: covered })).toEqual(["--min-coverage"]);
});

test("a failure has the command that shows each failure again, and output only of runs that have some", () => {
  const [unseen, seen] = [{}, { outputOf: () => ["FAILED a"] }].map((one) => failuresOf(failed, "", one));
  const end = "--openapi api.yaml -- npm run test:api -- --grep 'it'\\''s a key'";
  expect(unseen?.slice(0, 3).map(({ id, rerun }) => [id, rerun])).toEqual([
    ["varied 1", `svc-sandbox exec key-states --profile varied --seed 1 ${end}`],
    ["fault.reset", `svc-sandbox exec key-states --profile minimal --seed 1 --fault fault.reset ${end}`],
    // Without a cause, it is the last.
    ["varied 3", `svc-sandbox exec key-states --profile varied --seed 3 ${end}`],
  ]);
  expect([unseen, seen].map((all) => all?.[0]?.output)).toEqual([undefined, ["FAILED a"]]);
});

const enough = { ...passed.report, coverage: coverage(5) };
const ending = (...outcomes: RunOutcome[]) => ({
  runs: outcomes.map((outcome, i): Run => ({ ...run, name: `run ${i}`, outcome, code: 1 })) as [Run],
});
test.each<[CertifyResult["verdict"], Partial<CertifyResult>, string]>([
  ["unusable", ending("not_run"), "Not certified: the command could not be run."],
  ["unusable", ending("failed"), "Not certified: the command failed with exit code 1 in the run run 0, the"],
  ["unusable", ending("timed_out"), "Not certified: the command does not end in time in the run run 0, the"],
  ["unusable", { report: { ...enough, requests: 0 } }, "Not certified: the command never called the API."],
  ["unusable", {}, "Not certified: the client covers 2 of 3 promised paths"],
  [
    "unusable",
    { ...ending("passed", "not_run"), report: enough },
    "Not certified: 1 run of 4 were not made.",
  ],
  ["flaky", ending("passed", "flaky", "failed"), "Flaky: 1 of 3 runs passed once and failed once, although"],
  ["failed", ending("passed", "failed", "timed_out", "flaky"), "Failed: 2 of 4 runs. Noticed 2 of 2 covered"],
  [
    "unusable",
    {
      ...ending("passed"),
      report: enough,
      promises: promisesIn("swaps", [ended("200.test:rejected", 0, 0)]),
    },
    "Not certified: no run of `broken promises` shows anything, because the client got no response with it.",
  ],
  [
    "failed",
    { ...ending("passed", "not_tried"), unmet: failed.unmet },
    "Not passed: 1 of 2 runs passed, but 1 threshold was not reached.",
  ],
  [
    "failed",
    { unmet: failed.unmet },
    "Not passed: all 1 run passed, but 1 threshold was not reached. Noticed",
  ],
])("a certificate that is %s ends with its conclusion (%#)", (verdict, more, start) => {
  const { conclusion } = JSON.parse(
    renderCertificate({ ...passed, ...more, verdict }, "json", undefined, {}),
  );
  expect(conclusion.slice(0, start.length)).toBe(start);
});
