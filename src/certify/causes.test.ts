import { expect, test } from "vitest";
import { lengtheningRows } from "../api/variation/table.js";
import type { RowChoice } from "../runs/conditions.js";
import type { VariedPoint } from "../sandbox/journal/counts.js";
import { type FailedRun, findCauses } from "./causes.js";
import type { ClientRun } from "./run.js";

const point = (row: string, variant = "charset"): VariedPoint => ({ row, variant, status: 401 });
const runOf = (result: ClientRun["result"], ...points: readonly VariedPoint[]) =>
  // Only what the search reads of a run.
  ({ result, code: 1, points, sent: [], last: undefined }) as Partial<ClientRun> as ClientRun;
const failedRun = (seed: number, ...points: readonly VariedPoint[]): FailedRun => ({
  seed,
  run: runOf("failed", ...points),
});

/** Searches for the causes of a client that breaks as `breaks` decides. */
async function causesOf(
  runs: readonly FailedRun[],
  breaks: (points: readonly VariedPoint[], seed: number) => boolean,
  passed: readonly VariedPoint[] = [],
) {
  const calls: [number, readonly RowChoice[] | undefined][] = [];
  const { causes, disturbed } = await findCauses(runs, passed, async (seed, rows) => {
    calls.push([seed, rows]);
    const all = runs.find((run) => run.seed === seed)?.run.points ?? [];
    const isWanted = ({ row, status }: VariedPoint) =>
      rows?.some((one) => one.row === row && (one.status ?? status) === status) ?? true;
    return runOf(breaks(all.filter(isWanted), seed) ? "failed" : "passed");
  });
  const named = causes.map(({ row, points, failed }) => ({
    row,
    variants: points.map(({ variant }) => variant),
    seeds: failed.map(({ seed }) => seed),
  }));
  return { named, sentences: causes.map(({ sentence }) => sentence), disturbed, count: calls.length };
}

const has =
  (...rows: readonly string[]) =>
  (points: readonly VariedPoint[]) =>
    points.some(({ row }) => rows.includes(row));

const many = [point("content_type"), point("etag", "weak"), point("vary", "twice"), point("server", "proxy")];
const wide = Array.from({ length: 32 }, (_, at) => point(`row_${at}`));

test("a cause is the row that brings the failure back alone, and other seeds that it explains are added", async () => {
  const runs = [
    failedRun(3, ...many),
    failedRun(5, point("content_type", "quoted"), point("etag", "strong")),
  ];
  const { named } = await causesOf(runs, has("content_type"));
  expect(named).toEqual([{ row: "content_type", variants: ["charset", "quoted"], seeds: [3, 5] }]);
});

test("32 rows are halved five times, and confirmed with the row and without it", async () => {
  const { named, count } = await causesOf([failedRun(3, ...wide)], has("row_21"));
  expect([named, count]).toEqual([[{ row: "row_21", variants: ["charset"], seeds: [3] }], 7]);
});

test("a row whose variant has passed with another seed is tried last", async () => {
  const { count } = await causesOf([failedRun(3, ...wide)], has("row_31"), wide.slice(0, 31));
  expect(count).toBe(2);
});

test("two rows that each break the client are two causes", async () => {
  const { named } = await causesOf([failedRun(1, ...many)], has("etag", "server"));
  expect(named.map(({ row }) => row).sort()).toEqual(["etag", "server"]);
});

test("only the statuses that break the client are named", async () => {
  const points = [200, 401, 429].map((status) => ({ ...point("etag"), status }));
  const sentenceFor = async (...broken: readonly number[]) => {
    const breaks = (all: readonly VariedPoint[]) => all.some(({ status }) => broken.includes(status));
    return (await causesOf([failedRun(1, ...points)], breaks)).sentences[0];
  };
  expect(await sentenceFor(429)).toMatch(/^Breaks when a 429 /);
  expect(await sentenceFor(200, 429)).toMatch(/^Breaks when a 200 or a 429 /);
});

test("rows that break the client only together are no cause: all of their seeds are one problem", async () => {
  const breaks = (points: readonly VariedPoint[]) => has("etag")(points) && has("server")(points);
  const runs = [4, 5, 6].map((seed) => failedRun(seed, ...many));
  const { named, sentences } = await causesOf(runs, breaks);
  expect(named).toEqual([{ row: undefined, variants: [], seeds: [4, 5, 6] }]);
  expect(sentences[0]).toContain("seeds 4, 5 and 6");
});

test("a seed without a row is that of a row that a later seed finds, if it passes without it", async () => {
  const isUnlucky = (points: readonly VariedPoint[], seed: number) =>
    has("etag")(points) && (seed !== 4 || has("server")(points));
  const { named } = await causesOf([failedRun(4, ...many), failedRun(5, ...many)], isUnlucky);
  expect(named.map(({ row, seeds }) => [row, seeds])).toEqual([["etag", [5, 4]]]);
});

test("a run that fails without any variation depends on its seed, and one that passes again failed once", async () => {
  const bySeed = await causesOf([failedRun(6, ...many)], () => true);
  expect(bySeed.named).toEqual([{ row: undefined, variants: [], seeds: [6] }]);
  expect(bySeed.sentences[0]).toMatch(/^Fails with seed 6 even/);
  const flaky = await causesOf([failedRun(7, ...many)], () => false);
  expect(flaky.sentences).toEqual([expect.stringMatching(/^Failed once and passed once with seed 7/)]);
});

test("a run that passes again with different requests is explained by their numbers only", async () => {
  const sent = (count: number) => {
    const requests = Array.from({ length: count }, (_, at) => ({
      id: `req_${at}`,
      outcome: "200.test" as const,
    }));
    return [{ key: "active", isUnknown: false, requests }];
  };
  const { seed, run } = failedRun(7, ...many);
  const again = { ...runOf("passed"), sent: sent(5) };
  const { causes } = await findCauses([{ seed, run: { ...run, sent: sent(3) } }], [], async () => again);
  expect(causes[0]?.sentence).toBe(
    "Failed once and passed once with seed 7, with different requests: 3 when it failed, and 5 when it passed",
  );
  expect(causes[0]?.whatToDo).not.toMatch(/depends on/);
});

test("a run that failed next to another one is repeated alone first", async () => {
  const { seed, run } = failedRun(7, ...many);
  const { disturbed, count } = await causesOf([{ seed, run: { ...run, isShared: true } }], () => false);
  expect([disturbed?.seed, count]).toEqual([7, 1]);
});

test("a long body is the only cause, although rows that lengthen one broke the client first", async () => {
  const [lengthening] = lengtheningRows.map(({ id }) => id);
  const runs = [failedRun(1, point(lengthening as string)), failedRun(2, point("body_length", "longer"))];
  const { named } = await causesOf(runs, has(lengthening as string, "body_length"));
  expect(named).toEqual([{ row: "body_length", variants: ["longer"], seeds: [1, 2] }]);
});
