import { expect, test } from "vitest";
import { lengtheningRows } from "../api/variation/table.js";
import type { VariedPoint } from "../sandbox/conditions.js";
import { type FailedRun, findCauses } from "./causes.js";
import type { ClientRun } from "./run.js";

const point = (row: string, variant = "charset"): VariedPoint => ({ row, variant, status: 401 });
const failedRun = (seed: number, ...points: readonly VariedPoint[]): FailedRun => ({
  seed,
  // Only what the search reads of a run.
  run: { outcome: "failed", code: 1, points, last: undefined } as Partial<ClientRun> as ClientRun,
});

/** Searches for the causes of a client that breaks if one of the given rows varies, or as `breaks` decides. */
async function causesOf(
  runs: readonly FailedRun[],
  breaks: (points: readonly VariedPoint[], seed: number) => boolean,
) {
  let count = 0;
  const { causes, flaky } = await findCauses(runs, [], async (seed, points) => {
    count += 1;
    const all = runs.find((run) => run.seed === seed)?.run.points ?? [];
    return { outcome: breaks(points ?? all, seed) ? "failed" : "passed" };
  });
  const named = causes.map(({ row, points, failed }) => ({
    row,
    variants: points.map(({ variant }) => variant),
    seeds: failed.map(({ seed }) => seed),
  }));
  return {
    named,
    sentences: causes.map(({ sentence }) => sentence),
    flaky: flaky.map(({ seed }) => seed),
    count,
  };
}

const has =
  (...rows: readonly string[]) =>
  (points: readonly VariedPoint[]) =>
    points.some(({ row }) => rows.includes(row));

const many = [point("content_type"), point("etag", "weak"), point("vary", "twice"), point("server", "proxy")];

test("a cause is the one row that brings the failure back alone, and other runs that it explains are added", async () => {
  const runs = [
    failedRun(3, ...many),
    failedRun(5, point("content_type", "quoted"), point("etag", "strong")),
  ];
  const { named, count } = await causesOf(runs, has("content_type"));
  expect(named).toEqual([{ row: "content_type", variants: ["charset", "quoted"], seeds: [3, 5] }]);
  expect(count).toBeLessThan(30);
});

test("two rows that each break the client are two causes", async () => {
  const { named } = await causesOf([failedRun(1, ...many)], has("etag", "server"));
  expect(named.map(({ row }) => row).sort()).toEqual(["etag", "server"]);
});

test("rows that break the client only together are no cause: the seed is named", async () => {
  const breaks = (points: readonly VariedPoint[]) => has("etag")(points) && has("server")(points);
  const { named, sentences } = await causesOf([failedRun(4, ...many)], breaks);
  expect(named).toEqual([{ row: undefined, variants: [], seeds: [4] }]);
  expect(sentences[0]).toContain("seed 4");
});

test("a run that fails without any variation depends on its seed, and one that passes again is flaky", async () => {
  const bySeed = await causesOf([failedRun(6, ...many)], () => true);
  expect(bySeed.named).toEqual([{ row: undefined, variants: [], seeds: [6] }]);
  expect(await causesOf([failedRun(7, ...many)], () => false)).toMatchObject({ named: [], flaky: [7] });
});

test("a long body is the only cause, although rows that lengthen one broke the client first", async () => {
  const [lengthening] = lengtheningRows.map(({ id }) => id);
  const runs = [failedRun(1, point(lengthening as string)), failedRun(2, point("body_length", "longer"))];
  const { named } = await causesOf(runs, has(lengthening as string, "body_length"));
  expect(named).toEqual([{ row: "body_length", variants: ["longer"], seeds: [2, 1] }]);
});
