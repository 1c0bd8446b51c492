import { expect, test } from "vitest";
import { lengtheningRows } from "../../api/variation/table.js";
import type { Report } from "../../report/report-shape.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { Runs } from "../client-runs/runs.js";
import { judgeVaried } from "./varied.js";

const point = (row: string, variant = "charset"): VariedPoint => ({ row, variant, status: 401 });
/** Only what the search reads of a plan and of a run. */
const plan = {
  timeout: 1000,
  allow: [] as const,
  flags: [] as const,
  certifyFlags: [] as const,
} as Partial<CertifyPlan> as CertifyPlan;
const report = { requests: 1 } as Partial<Report> as Report;
const failedRun = (seed: number, ...points: readonly VariedPoint[]) =>
  ({
    seed,
    result: "failed",
    code: 1,
    points,
    sentKeys: [],
    lastRequest: undefined,
    output: [] as const,
    report,
    durationMs: 9,
  }) as Partial<ClientRun> as ClientRun;

/** Searches for the causes of a client that breaks as `breaks` decides, by how often the same conditions were there. */
async function causesOf(
  failing: readonly ClientRun[],
  breaks: (points: readonly VariedPoint[], seed: number, time: number) => boolean,
  shows: (varied: readonly VariedPoint[], isAlone: boolean) => readonly VariedPoint[] = (varied) => varied,
  last?: ClientRun["lastAskedWait"],
) {
  const calls: string[] = [];
  let callsAfterContradiction = 0;
  const only = failing.map(({ seed }) => `varied.${seed}`);
  const runs = new Runs(
    { ...plan, only },
    {
      async run({ seed, conditions: { rows } }) {
        const { points = [] } = failing.find((run) => run.seed === seed) ?? {};
        const id = JSON.stringify([seed, rows ?? "all"]);
        calls.push(id);
        callsAfterContradiction += runs.findContradiction() === undefined ? 0 : 1;
        const isWanted = ({ row, status }: VariedPoint) =>
          rows?.some((one) => one.row === row && (one.status ?? status) === status) ?? true;
        const varied = points.filter(isWanted);
        const time = calls.filter((one) => one === id).length;
        const isFirst = rows === undefined && time === 1 && failing.some((run) => run.seed === seed);
        const isBroken = isFirst || breaks(varied, seed, time);
        return {
          ...failedRun(seed, ...shows(varied, rows !== undefined)),
          lastAskedWait: last,
          code: failing.find((run) => run.seed === seed)?.code ?? 1,
          result: isBroken ? (failing[0]?.result ?? "failed") : "passed",
          scenarios: [],
        };
      },
      say() {},
      separateRuns() {},
    },
  );
  const { problems } = await judgeVaried(runs);
  const named = problems.map(({ row, points = [], runs: names }) => ({
    row,
    variants: points.map(({ variant }) => variant),
    seeds: names.map((name) => Number(name.split(".")[1])),
  }));
  const contradiction = runs.findContradiction();
  const sentences = problems.map(({ sentence }) => sentence);
  return { contradiction, problems, named, sentences, calls, count: calls.length, callsAfterContradiction };
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
  expect(named).toEqual([{ row: "content_type", variants: ["charset"], seeds: [3, 5] }]);
});

const repeats = 5;
/** With nothing varied. */
const bare = 1;

test("32 rows are halved, and the last one is confirmed: twice alone, and once not without it", async () => {
  const { named, count } = await causesOf([failedRun(3, ...wide)], has("row_21"));
  expect([named, count]).toEqual([
    [{ row: "row_21", variants: ["charset"], seeds: [3] }],
    1 + repeats + bare + 5 + 2 + 1,
  ]);
});

test.each([
  ["429.per_day", 429, "a daily limit", "Or test it with a key that is limited by the minute."],
  ["429.per_minute", 429, "a 429", "set a longer --timeout."],
  ["fault.status", 503, "a 503", "set a longer --timeout."],
] as const)(
  "a client that waits as long as Retry-After of %s asks is told so",
  async (outcome, status, limit, fix) => {
    const run = {
      ...failedRun(2, { row: "retry_after", variant: "seconds", status: 429 }, point("etag")),
      result: "timed_out",
    } as const;
    const last = { outcome, status, seconds: 52_000 };
    const { problems } = await causesOf([run], has("retry_after"), (varied) => varied, last);
    expect(problems.map(({ sentence }) => sentence)).toEqual([
      `Waits longer than 1 s, as \`Retry-After\` of ${limit} asks: 52,000 s`,
    ]);
    expect(problems[0]?.whatToDo).toContain(fix);
  },
);

test("two rows that each break the client are two causes", async () => {
  const { named } = await causesOf([failedRun(1, ...many)], has("etag", "server"));
  expect(named.map(({ row }) => row).sort()).toEqual(["etag", "server"]);
});

test("one status that breaks the client alone is named", async () => {
  const points = [200, 401, 429].map((status) => ({ ...point("etag"), status }));
  const sentenceFor = async (...broken: readonly number[]) => {
    const breaks = (all: readonly VariedPoint[]) => all.some(({ status }) => broken.includes(status));
    return (await causesOf([failedRun(1, ...points)], breaks)).sentences[0];
  };
  expect(await sentenceFor(429)).toMatch(/^Breaks when a 429 /);
  expect(await sentenceFor(200, 429)).toMatch(/^Breaks when a 200 /);
});

test("two rows that break the client only together are both named, with all seeds that have both", async () => {
  const breaks = (points: readonly VariedPoint[]) => has("etag")(points) && has("server")(points);
  const runs = [4, 5, 6].map((seed) => failedRun(seed, ...many));
  const { problems, sentences, named } = await causesOf(runs, breaks);
  expect(named).toEqual([{ row: undefined, variants: ["weak", "proxy"], seeds: [4, 5, 6] }]);
  expect(problems[0]?.points?.map(({ row }) => row)).toEqual(["etag", "server"]);
  expect(sentences[0]).toMatch(/^Breaks only when two things come together: a 401 .* and a 401 /);
});

test("two of 32 rows are found wherever they are", async () => {
  for (const [one, other] of [
    [0, 1],
    [0, 31],
    [13, 14],
    [7, 22],
    [30, 31],
  ]) {
    const names = [`row_${one}`, `row_${other}`];
    const breaks = (points: readonly VariedPoint[]) => names.every((name) => has(name)(points));
    const { problems } = await causesOf([failedRun(3, ...wide)], breaks);
    expect(problems.map(({ points = [] }) => points.map(({ row }) => row))).toEqual([names]);
  }
});

test("three rows that break the client only together are no cause: all of their seeds are one problem, and two are searched", async () => {
  const breaks = (points: readonly VariedPoint[]) =>
    ["etag", "server", "vary"].every((row) => has(row)(points));
  const runs = [4, 5, 6].map((seed) => failedRun(seed, ...many));
  const { named, sentences } = await causesOf(runs, breaks);
  expect(named).toEqual([{ row: undefined, variants: [], seeds: [4, 5, 6] }]);
  expect(sentences[0]).toMatch(
    /seeds 4 and 5: no single row of varied responses brings it back, and no two rows do$/,
  );
});

test("a sentence names no variant that did not fail alone, also if two rows break one seed", async () => {
  const runs = [
    failedRun(1, point("etag", "weak"), point("server", "proxy")),
    failedRun(2, point("etag", "strong"), point("server", "proxy"), point("via", "two")),
  ];
  const isWeak = ({ row, variant }: VariedPoint) => row === "etag" && variant === "weak";
  const { named, problems } = await causesOf(runs, (points) => points.some(isWeak) || has("server")(points));
  expect(named).toEqual([
    { row: "etag", variants: ["weak"], seeds: [1] },
    { row: "server", variants: ["proxy"], seeds: [1, 2] },
  ]);
  expect(problems.map(({ points }) => points?.map(({ row }) => row))).toEqual([["etag"], ["server"]]);
});

test("a cause on one status has no run that another row breaks, and whose variant is on another status", async () => {
  const runs = [
    failedRun(1, point("etag", "weak"), point("via", "two")),
    failedRun(2, { ...point("etag", "weak"), status: 200 }, point("server", "proxy")),
  ];
  const isRejected = ({ row, status }: VariedPoint) => row === "etag" && status === 401;
  const { named } = await causesOf(runs, (points) => points.some(isRejected) || has("server")(points));
  expect(named.map(({ row, seeds }) => [row, seeds])).toEqual([
    ["etag", [1]],
    ["server", [2]],
  ]);
});

test("the status that breaks a client is named, although its run stopped before it", async () => {
  const points = [200, 401, 403].map((status) => ({ ...point("etag"), status }));
  const whole = failedRun(1, ...points);
  const isBroken = (varied: readonly VariedPoint[]) => varied.some(({ status }) => status === 403);
  const { sentences } = await causesOf([whole], isBroken, (varied, isAlone) =>
    isAlone ? varied : varied.slice(0, 2),
  );
  expect(sentences[0]).toMatch(/^Breaks when a 403 /);
});

test("a row that breaks the client only on several statuses together is named with all of them", async () => {
  const points = [200, 401].map((status) => ({ ...point("etag", "weak"), status }));
  const { sentences } = await causesOf([failedRun(1, ...points)], (varied) => varied.length === 2);
  expect(sentences[0]).toMatch(/^Breaks when each of a 200 and a 401 /);
});

test("a seed that fails by chance has no cause: it passes one of its repetitions", async () => {
  const isUnlucky = (points: readonly VariedPoint[], _: number, time: number) =>
    points.length === many.length && time < 3;
  const { contradiction } = await causesOf([failedRun(4, ...many)], isUnlucky);
  expect(contradiction).toMatchObject({ failed: { result: "failed" }, passed: { result: "passed" } });
});

test("a run that fails without any variation depends on its seed", async () => {
  const { named, sentences } = await causesOf([failedRun(6, ...many)], (_points, seed) => seed === 6);
  expect(named).toEqual([{ row: undefined, variants: [], seeds: [6] }]);
  expect(sentences[0]).toMatch(/^Fails with seed 6 even/);
});

test("a failure that needs no row is found first: in the first seed twice, in the others once", async () => {
  const runs = [2, 3, 4, 5].map((seed) => failedRun(seed, ...wide));
  const { named, sentences, count } = await causesOf(runs, (_points, seed) => seed > 1);
  expect(named).toEqual([{ row: undefined, variants: [], seeds: [2, 3, 4, 5] }]);
  expect(sentences[0]).toMatch(/^Fails with seeds 2, 3, 4 and 5 even/);
  const plain = 1;
  expect(count).toBe(4 + repeats + 2 + 3 * 1 + plain);
});

test("a row of another seed is found beside a failure that needs none", async () => {
  const runs = [failedRun(2, ...many), failedRun(1, ...many)];
  const { named } = await causesOf(runs, (points, seed) => seed === 2 || has("etag")(points));
  expect(named).toEqual([
    { row: "etag", variants: ["weak"], seeds: [1] },
    { row: undefined, variants: [], seeds: [2] },
  ]);
});

test.each([
  ["a whole seed", () => false],
  ["a row alone", (points: readonly VariedPoint[], _: number, time: number) => points.length > 1 || time < 2],
])("%s that passes and fails contradicts itself, and the search ends", async (_, breaks) => {
  const { contradiction, count } = await causesOf([failedRun(1, point("etag"), point("server"))], breaks);
  expect(contradiction).toMatchObject({ failed: { result: "failed" }, passed: { result: "passed" } });
  expect(count).toBeLessThan(13);
});

const twice = [200, 401].map((status) => ({ ...point("etag", "weak"), status }));

test.each<[string, readonly VariedPoint[], (points: readonly VariedPoint[], time: number) => boolean]>([
  ["without any variation, once", many, (points, time) => points.length === 0 && time === 1],
  [
    "with a row alone, once",
    [point("etag"), point("server")],
    (points, time) => has("etag")(points) && time === 1,
  ],
  [
    "with a row on one status, once",
    twice,
    (points, time) => points.length === 1 && points[0]?.status === 401 && time === 1,
  ],
  [
    "with a row on all statuses, twice",
    [...twice, point("server")],
    (points, time) => points.length === 2 && has("etag")(points) && time <= 2,
  ],
  [
    "with a row alone, but in the second search only",
    many,
    (points, time) => points.length === 1 && has("server")(points) && time > 1,
  ],
])(
  "a run that fails %s, shows nothing: two runs under one condition end differently",
  async (_, points, fails) => {
    const { named, contradiction, callsAfterContradiction } = await causesOf(
      [failedRun(1, ...points)],
      (varied, _seed, time) => varied.length === points.length || fails(varied, time),
    );
    expect(contradiction).toMatchObject({ failed: { result: "failed" }, passed: { result: "passed" } });
    expect(named.flatMap(({ row }) => row ?? [])).toEqual([]);
    expect(callsAfterContradiction).toBe(0);
  },
);

test("a run that fails without its cause is made again before the search goes on", async () => {
  const breaks = (points: readonly VariedPoint[], _: number, time: number) =>
    has("etag")(points) || (points.length === many.length - 1 && time === 1);
  const { count } = await causesOf([failedRun(1, ...many)], breaks);
  expect(count).toBe(1 + repeats + bare + 2 + 2 + 2);
});

test("after two searches in vain, no run is made: the last one is a trial", async () => {
  const breaks = (points: readonly VariedPoint[]) =>
    ["etag", "server", "vary"].every((row) => has(row)(points));
  const { calls } = await causesOf([failedRun(4, ...many)], breaks);
  expect(calls.at(-1)).not.toContain("all");
});

test("a long body comes first in one run, too", async () => {
  const [lengthening] = lengtheningRows.map(({ id }) => id);
  const run = failedRun(1, point(lengthening as string), point("body_length", "longer"));
  const { named } = await causesOf([run], has(lengthening as string, "body_length"));
  expect(named.map(({ row }) => row)).toEqual(["body_length"]);
});

test("a long body is the only cause, although rows that lengthen one broke the client first", async () => {
  const [lengthening] = lengtheningRows.map(({ id }) => id);
  const runs = [failedRun(1, point(lengthening as string)), failedRun(2, point("body_length", "longer"))];
  const { named } = await causesOf(runs, has(lengthening as string, "body_length"));
  expect(named).toEqual([{ row: "body_length", variants: ["longer"], seeds: [1, 2] }]);
});

test("runs that end by time share a search: two are repeated, and two trials of the row wait", async () => {
  const retryAfter = { row: "retry_after", variant: "seconds", status: 429 };
  const late = [2, 5, 8].map((seed) => ({
    ...failedRun(seed, retryAfter, ...wide),
    result: "timed_out" as const,
  }));
  const { named, calls, count } = await causesOf(late, has("retry_after"));
  expect(named).toEqual([{ row: "retry_after", variants: ["seconds"], seeds: [2, 5, 8] }]);
  const waits = calls.filter((id) => id.includes('"all"') || id.includes('"retry_after"'));
  const plainRuns = calls.filter((id) => id === '[null,"all"]');
  expect(plainRuns).toHaveLength(10);
  expect(waits).toHaveLength(3 + 2 + 10 + 2);
  // Nothing varies once; each of the three passes without the row.
  expect(count).toBe(3 + 2 + 10 + 2 + 1 + 3);
});

const lateRun = (seed: number, ...points: readonly VariedPoint[]) =>
  ({ ...failedRun(seed, ...points), result: "timed_out" }) as const;

test("a run that ends by time once accuses nobody, and no row is searched", async () => {
  const { contradiction, named, count } = await causesOf([lateRun(4, ...many)], () => false);
  expect(contradiction?.failed.seed).toBe(4);
  expect([named, count]).toEqual([[], 1 + 1]);
});

test("a run that ends by time each time, before any response varied, has no words on rows", async () => {
  const breaks = (_: readonly VariedPoint[], seed: number, time: number) => seed === 4 && time < 9;
  const { sentences } = await causesOf([lateRun(4)], breaks);
  expect(sentences).toEqual(["Does not end in time with seed 4 even when nothing is varied"]);
});

test("of runs that end by time, one that was not repeated is not named without a row", async () => {
  const both = (points: readonly VariedPoint[]) => has("etag")(points) && has("server")(points);
  const runs = [lateRun(1, ...many), lateRun(2, ...many), lateRun(3, ...many)];
  const { named } = await causesOf(runs, both);
  expect(named).toEqual([]);
});

test("runs without a known cause that end alike share their words, and each other one has its own", async () => {
  const three = (points: readonly VariedPoint[]) =>
    ["etag", "server", "vary"].every((row) => has(row)(points));
  const endOf = async (...runs: readonly ClientRun[]) =>
    (await causesOf(runs, three)).sentences[0]?.split(":")[0];
  const [two, five] = [failedRun(2, ...many), failedRun(5, ...many)];
  expect(await endOf(two, five)).toBe("The command fails with exit code 1 with seeds 2 and 5");
  expect(await endOf(two, { ...five, code: 3 })).toBe(
    "The command fails with exit code 1 with seed 2 and fails with exit code 3 with seed 5",
  );
});
