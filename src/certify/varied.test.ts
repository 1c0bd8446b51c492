import { expect, test } from "vitest";
import { handMade, kindsOf, reasonOf, resultsOf, sentTimes } from "../../test/certify/hand-made.js";
import type { VariedPoint } from "../sandbox/variants.js";
import type { ClientRun, RunEnd } from "./client-runs/client-run.js";
import { judgeVaried } from "./varied.js";

const point = (row: string, status = 401): VariedPoint => ({ row, variant: "charset", status });
const sent = [sentTimes("active", 2)];
const varies: Partial<RunEnd> = { sentKeys: sent, points: [point("etag")] };

/** Runs whose varied ones end like this, by their names. */
const runsWith = (
  ends: Readonly<Record<string, Partial<RunEnd> | undefined>>,
  plan?: Parameters<typeof handMade>[1],
) => handMade(({ name }) => (name in ends ? ends[name] : varies), plan);

test("a varied run without its requests or a variation shows nothing, and is none that passed", async () => {
  const { runs } = await runsWith({
    "varied.2": { sentKeys: [], points: [] },
    "varied.5": { sentKeys: sent, points: [] },
  });
  const holding = await runs.heldVaried();
  expect(holding.map(({ seed }) => seed)).toEqual([1, 3, 4, 6, 7, 8]);
  const { checks } = await judgeVaried(runs);
  const open = Object.entries(kindsOf(checks)).filter(([, kind]) => kind === "not_judged");
  expect(open.map(([name]) => name)).toEqual(["varied.2", "varied.5"]);
});

test("varied.mixed follows if all eight runs passed, or if --only names it", async () => {
  const isMixed = async (...args: Parameters<typeof runsWith>) => {
    const { runs, names } = await runsWith(...args);
    await judgeVaried(runs);
    return names.includes("varied.mixed");
  };
  expect(await isMixed({})).toBe(true);
  expect(await isMixed({ "varied.2": { sentKeys: sent, points: [] } })).toBe(false);
  expect(await isMixed({}, { only: ["varied.mixed"] })).toBe(true);
  expect(await isMixed({}, { only: ["varied.3"] })).toBe(false);
  expect(await isMixed({}, { only: ["varied", "varied.30"] })).toBe(true);
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => `varied.${seed}`);
  expect(await isMixed({}, { only: seeds })).toBe(false);
});

test("a search that was stopped leaves open what failed", async () => {
  const { runs } = await handMade(({ name }, before) => {
    if (name !== "varied.4") return varies;
    return before === 0 ? { ...varies, result: "failed" } : undefined;
  });
  const { checks, problems } = await judgeVaried(runs);
  expect(problems).toEqual([]);
  const results = resultsOf(checks);
  expect([results["varied.3"], results["varied.4"]]).toMatchObject([
    { kind: "held" },
    { why: "certify was stopped" },
  ]);
});

test("assumptions that tests set are noted if they did not vary, and the scenario does not set them", async () => {
  const ownAssumptions = ["etag", "rate_limit_code", "retry_after"];
  const { runs } = await runsWith(
    { "varied.1": { ...varies, ownAssumptions } },
    { ownAssumptions: ["retry_after"] },
  );
  const { notes } = await judgeVaried(runs);
  expect(notes.find(({ what }) => what === "varied assumptions")?.why).toBe(
    "your tests set `rate_limit_code`",
  );
});

/** Judges the varied runs of a client whose responses have these points, by seed, and that breaks as `breaks` decides. */
async function causesOf(
  pointsBySeed: Readonly<Record<number, readonly VariedPoint[]>>,
  breaks: (points: readonly VariedPoint[], seed: number, before: number) => boolean,
  end: ClientRun["result"] = "failed",
) {
  const only = Object.keys(pointsBySeed).map((seed) => `varied.${seed}`);
  const counts = new Map<string, number>();
  const { runs, names } = await handMade(
    ({ seed, conditions: { profile, rows } }) => {
      if (profile !== "varied") return { sentKeys: sent };
      const id = JSON.stringify([seed, rows]);
      const before = counts.get(id) ?? 0;
      counts.set(id, before + 1);
      const points = (pointsBySeed[seed] ?? []).filter(
        ({ row }) => rows?.some((one) => one.row === row) ?? true,
      );
      return { sentKeys: sent, points, result: breaks(points, seed, before) ? end : "passed" };
    },
    { only, timeout: 9000 },
  );
  const { checks, problems } = await judgeVaried(runs);
  const named = problems.map(({ row, runs: seeds }) => [row, ...seeds]);
  const sentences = problems.map(({ sentence }) => sentence);
  return { results: resultsOf(checks), problems, named, sentences, count: names.length - 1 };
}

const has = (row: string) => (points: readonly VariedPoint[]) => points.some((one) => one.row === row);
const wide = Array.from({ length: 32 }, (_, at) => point(`row_${at}`));

test("32 rows are halved, and the last one is confirmed alone in three runs", async () => {
  const { named, count } = await causesOf({ 3: wide }, has("row_21"));
  // The run three times, once with nothing varied, five halves, and the row three times.
  expect([named, count]).toEqual([[["row_21", "varied.3"]], 3 + 1 + 5 + 3]);
});

test("a run that also breaks with a known row is part of that problem, after one more run", async () => {
  const { named, count } = await causesOf({ 3: wide, 5: wide.slice(20) }, has("row_21"));
  expect([named, count]).toEqual([[["row_21", "varied.3", "varied.5"]], 12 + 3 + 1]);
});

test("the sentence has the responses that varied when the command failed", async () => {
  const points = [point("content_type", 200), point("content_type")];
  const { sentences } = await causesOf({ 2: points }, has("content_type"));
  expect(sentences).toEqual([expect.stringMatching(/^Breaks when each of a 200 and a 401 has /)]);
});

test("a command that fails although nothing varies is told so, for all its seeds", async () => {
  const { sentences, problems } = await causesOf({ 2: wide, 3: wide }, () => true);
  expect(sentences).toEqual(["Breaks with seeds 2 and 3 even when nothing is varied"]);
  expect(problems[0]?.whatToDo).toContain("read keys from `SVC_KEY_…`");
});

test("if no single row brings it back, no other seed is searched", async () => {
  const pair = (points: readonly VariedPoint[]) => has("row_1")(points) && has("row_30")(points);
  const { named, sentences } = await causesOf({ 2: wide, 3: wide, 4: wide, 5: wide }, pair);
  expect(named).toEqual([[undefined, "varied.2", "varied.3", "varied.4", "varied.5"]]);
  expect(sentences).toEqual(["Breaks with seed 2: no single row of varied responses brings it back"]);
});

test("a run that fails in some of three runs has no cause, and is not judged with the counts", async () => {
  const { results, problems, count } = await causesOf({ 3: wide }, (_, __, before) => before !== 1);
  expect([problems, count]).toEqual([[], 3]);
  expect(reasonOf(results["varied.3"])?.why).toBe("the command failed with varied.3 in 2 of 3 runs");
});

test("a command that waits too long is told so, with the time", async () => {
  const { sentences } = await causesOf({ 2: [point("etag")] }, has("etag"), "timed_out");
  expect(sentences).toEqual([expect.stringMatching(/^Waits longer than 9 s when a 401 /)]);
});

test("varied.mixed that fails in three of three runs is a problem", async () => {
  const { runs } = await handMade(({ name }) =>
    name === "varied.mixed" ? { ...varies, result: "failed" } : varies,
  );
  const { problems } = await judgeVaried(runs);
  expect(problems.map(({ name, again }) => [name, again[0]])).toEqual([["varied.mixed", "certify"]]);
});
