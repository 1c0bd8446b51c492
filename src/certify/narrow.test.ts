import fc from "fast-check";
import { expect, test } from "vitest";
import { conditionedRun } from "../api/conditioned-run.js";
import { variationTable } from "../api/variation/table.js";
import rows from "../api/variation/words.json" with { type: "json" };
import { faultPathIds, outcomeOf, type PathId } from "../rules/outcomes.js";
import { runAgain } from "./brief.js";
import { minimize, type Narrowed, narrowFault, narrowVaried, type Repeat } from "./narrow.js";
import {
  causedRun,
  everywhere,
  faultCause,
  type PlannedRun,
  planOf,
  pointsIn,
  timeoutsFor,
  variationCause,
  whereTheyWere,
} from "./plan.js";
import type { CausePoint } from "./result.js";

const runs = planOf(1, [1, 2, 3, 4, 5, 6], ["fault.hang"]);
const [minimal, , ...varied] = runs;

const pointsOf = (seed: number): CausePoint[] =>
  variationTable.flatMap(({ id, statuses, variants }, row) =>
    statuses
      .filter((status) => [200, 401].includes(status))
      .map((s) => ({ row: id, status: s, variant: variants[(seed + row + s) % variants.length]?.id ?? "" })),
  );

const unseen = { lastPath: () => undefined };

/** A client that breaks when all the points of one of its mistakes are there; counts its runs. */
function client(...mistakes: readonly (readonly CausePoint[])[]) {
  const made = { runs: 0 };
  const attempt: Repeat = async (run, variant) => {
    const { choose } = conditionedRun(variant);
    made.runs += 1;
    // What is shown: per point of the seed, and per point that is chosen instead of what `minimal` does.
    const shown = pointsOf(run.seed).map((point) => ({
      ...point,
      variant: choose(point.row, point.variant, point.status),
    }));
    const keyOf = ({ row, variant, status }: CausePoint) => `${row} ${variant} ${status}`;
    const has = (point: CausePoint) => shown.some((one) => keyOf(one) === keyOf(point));
    return { failed: mistakes.some((points) => points.every(has)), lastPath: () => "401.revoked" };
  };
  return { attempt, made };
}

async function narrowed(attempt: Repeat) {
  const failing = [];
  for (const run of varied.filter(({ profile }) => profile === "varied")) {
    if ((await attempt(run, {})).failed) failing.push({ run, points: pointsIn(pointsOf(run.seed)) });
  }
  const found = new Map<string, Narrowed>();
  await narrowVaried(failing, [], attempt, (run, one) => void found.set(run.name, one));
  return { failing: failing.map(({ run }) => run.name), found };
}

const quoted = { row: "content_type", variant: "quoted", status: 401 };
const pointsOfCause = (one: Narrowed | undefined) => (typeof one === "object" ? one.points : one);

test("the point that breaks a client is found, once for all seeds that have it", async () => {
  const { attempt, made } = client([quoted]);
  const { failing, found } = await narrowed(attempt);
  expect(failing.length).toBeGreaterThan(0);
  expect([...found.keys()]).toEqual(failing);
  for (const one of found.values()) {
    expect(one).toEqual({
      whatToDo: [rows.content_type.remedy],
      sentence: 'fails when a 401 has `; charset="utf-8"` in its `Content-Type`, in quotes',
      points: [quoted],
      pathId: "401.revoked",
    });
  }
  // Six to find which fail, at most a dozen for the first cause, and one for each other run.
  expect(made.runs).toBeLessThan(6 + 12 + failing.length);
});

test("two mistakes of one client are reported separately, and a mistake that needs two points with both", async () => {
  const pointOf = (seed: number, row: string) => pointsOf(seed).find((one) => one.row === row) as CausePoint;
  const [one, two, b] = [pointOf(1, "escapes"), pointOf(1, "via"), pointOf(2, "request_id_form")] as const;
  const { attempt } = client([one, two], [b]);
  const { found } = await narrowed(attempt);
  expect(pointsOfCause(found.get("varied 1"))).toEqual(expect.arrayContaining([one, two]));
  expect(pointsOfCause(found.get("varied 1"))).toHaveLength(2);
  expect(pointsOfCause(found.get("varied 2"))).toEqual([b]);
});

test("a run that failed next to another and passes alone has no cause", async () => {
  const [shared, guilty] = varied.slice(-2) as [PlannedRun, PlannedRun];
  const attempts: string[] = [];
  const attempt: Repeat = async (run, { points = [quoted] }, isAlone = false) => {
    attempts.push(`${run.name}${isAlone ? " alone" : ""}`);
    return { failed: run === guilty && points.includes(quoted), ...unseen };
  };
  const narrowed = new Map<PlannedRun, Narrowed>();
  const failing = [shared, guilty].map((run) => ({ run, points: [quoted], isShared: true }));
  await narrowVaried(failing, [], attempt, (run, one) => void narrowed.set(run, one));
  expect(narrowed.get(shared)).toBe("disturbed");
  expect(pointsOfCause(narrowed.get(guilty))).toEqual([quoted]);
  expect(attempts.slice(0, 2)).toEqual([`${shared.name} alone`, `${guilty.name} alone`]);
  const faulty = { ...shared, fault: "fault.reset", isShared: true } as const;
  expect(await narrowFault(faulty, ["200.test"], "200.test", attempt)).toBe("disturbed");
});

test("a cause is the smallest part that fails alone, also if more points hide it", async () => {
  const at200 = (row: string, variant: string) => ({ row, variant, status: 200 });
  const points = [
    at200("limits_members", "burst"),
    at200("member_order", "sorted"),
    at200("usage_members", "time"),
  ];
  const [limits, order, usage] = points as [CausePoint, CausePoint, CausePoint];
  // One more member moves the others back to where the client expects them.
  const attempt: Repeat = async (_run, { points: some = points }) => {
    const isHidden = some.includes(limits) !== some.includes(usage);
    return { failed: some.includes(order) && !isHidden, ...unseen };
  };
  const [run] = varied.slice(-1) as [PlannedRun];
  const causes: Narrowed[] = [];
  await narrowVaried([{ run, points }], [], attempt, (_run, one) => void causes.push(one));
  expect(causes.map(pointsOfCause)).toEqual([[order]]);
});

test("a run that passes when it is repeated has the cause of another run, if that breaks it on every response", async () => {
  const [steady, unclear] = varied.slice(-2) as [PlannedRun, PlannedRun];
  const attempt: Repeat = async (run, { points = [quoted], isEverywhere = false }) => ({
    failed: points.includes(quoted) && (run !== unclear || (isEverywhere && points.length === 1)),
    ...unseen,
  });
  const others = ["via", "vary"].map((row) => ({ row, variant: "any", status: 401 }));
  const causes: Narrowed[] = [];
  const failing = [
    { run: steady, points: [quoted, ...others, { ...quoted, row: "etag" }] },
    { run: unclear, points: [quoted, ...others] },
  ];
  await narrowVaried(failing, [], attempt, (_run, one) => void causes.push(one));
  expect(causes.map(pointsOfCause)).toEqual([[quoted], [quoted]]);
  const chance: Repeat = async (run) => ({ failed: run === steady, ...unseen });
  const flaky: Narrowed[] = [];
  await narrowVaried(failing, [], chance, (_run, one) => void flaky.push(one));
  expect(flaky).toContain("flaky");
});

test("a client that breaks because of the seed only gets this cause", async () => {
  const attempt: Repeat = async ({ seed }) => ({ failed: seed === 3, ...unseen });
  const { found } = await narrowed(attempt);
  expect([...found]).toEqual([
    [
      "varied 3",
      {
        points: [],
        sentence: "fails with seed 3 even when nothing is varied",
        whatToDo: [expect.stringContaining("read keys from")],
      },
    ],
  ]);
});

test.each([2, 3, 5, 7])(
  "a client that fails every %i times is flaky, or was failing each time it was asked",
  async (every) => {
    let asked = 0;
    const attempt: Repeat = async () => ({ failed: ++asked % every === 0, ...unseen });
    const { failing, found } = await narrowed(attempt);
    expect([...found.keys()].sort()).toEqual(failing);
    for (const one of found.values()) expect(one).toBe("flaky");
  },
);

test("a fault is narrowed to the one path that breaks the client, or reported without a path", async () => {
  const run = { ...minimal, name: "fault.hang", fault: "fault.hang" } as const;
  const paths = ["200.test", "401.revoked", "401.expired"] as const;
  const attempt =
    (...bad: string[]): Repeat =>
    async (_run, { faults = [] }) => ({
      failed: faults.some(({ when }) => bad.includes(String(when?.path_id))),
      ...unseen,
    });
  for (const suspect of [undefined, ...paths]) {
    expect(await narrowFault(run, paths, suspect, attempt("401.revoked"))).toEqual({
      sentence: "fails when the first request that would end on 401.revoked never gets a response",
      whatToDo: [outcomeOf("fault.hang").whatToDo],
      points: [],
      fault: "fault.hang",
      pathId: "401.revoked",
    });
    expect(await narrowFault(run, paths, suspect, attempt(...paths))).toMatchObject({
      sentence: "fails when the first request never gets a response",
    });
    expect(await narrowFault(run, paths, suspect, attempt())).toBe("flaky");
  }
});

test("a client that fails by chance has no cause in a fault", async () => {
  const run = { ...minimal, name: "fault.reset", fault: "fault.reset" } as const;
  for (const failing of [[0], [0, 2, 3], [1, 4], [0, 1, 3]]) {
    let asked = 0;
    const attempt: Repeat = async () => ({ failed: failing.includes(asked++), ...unseen });
    expect(await narrowFault(run, ["200.test", "401.revoked"], "200.test", attempt)).toBe("flaky");
  }
});

test("a client that still waits after 30 seconds is stopped, and one with a timeout of 25 is not", () => {
  const run = { ...runs[0], name: "fault.hang", fault: "fault.hang" } as const;
  const paths = ["200.test", "401.revoked", "401.expired", "403.access_denied", "429.per_day"] as const;
  const { total, silent } = timeoutsFor(run, { baselineMs: 1_000, paths });
  expect([silent, total]).toEqual([31_000, paths.length * 31_000]);
  expect(timeoutsFor(run, { timeout: 8_000, paths })).toEqual({ total: 8_000, silent: 8_000 });
  expect(timeoutsFor(minimal, { paths })).toEqual({ total: 60_000, silent: 60_000 });
  expect(timeoutsFor(minimal, { baselineMs: 1_000, paths })).toEqual({ total: 30_000, silent: 30_000 });
  const min = 61_000;
  expect(timeoutsFor(minimal, { baselineMs: 7_000, paths, min })).toEqual({
    total: 96_000,
    silent: 68_000,
  });
  expect(faultCause("fault.hang", { path: "200.test", waitedMs: 30_000 })).toMatchObject({
    sentence:
      "still waiting after 30 s, when the first request that would end on 200.test never gets a response",
    whatToDo: [outcomeOf("fault.hang").whatToDo, expect.stringContaining("--timeout 60s")],
  });
});

test("R14 the remedy of a fault is about what was sent: nothing of a 204 is cut", () => {
  const remedy = (path: PathId, more = {}) =>
    faultCause("fault.truncate", { path, ...more }).whatToDo.join(" ");
  expect(remedy("204.deleteReport")).toContain("nothing was cut");
});

test("what shows a record that was created twice is certify, which compares it with the baseline", () => {
  const [baseline] = runs;
  const run = {
    ...baseline,
    fault: "fault.truncate",
    outcome: "failed",
    durationMs: 1,
    requests: 5,
    percent: 0,
  } as const;
  const subject = { scenario: "records.yaml", command: ["npm", "test"] };
  expect(runAgain({ ...run, code: 0 }, subject)).toBe(
    "svc-sandbox certify records.yaml --only fault.truncate -- npm test",
  );
  expect(runAgain({ ...run, code: 1 }, subject)).toMatch(
    /^svc-sandbox exec records.yaml .*--fault fault.truncate/,
  );
});

test("each thing that can break a client has a remedy with its rule, in sentences of at most 25 words", () => {
  const remedies = Object.values(rows).map(({ remedy }) => remedy);
  for (const remedy of remedies) expect(remedy).toMatch(/ \((R\d|RFC \d|the specification ).*\)\.$/);
  for (const text of [...remedies, ...faultPathIds.map((fault) => outcomeOf(fault).whatToDo)]) {
    for (const sentence of text.split(/(?<=[.:]) /)) expect(sentence.split(" ").length).toBeLessThan(26);
  }
});

test("a cause of several things is one clause, with the remedies of all", () => {
  const at = (row: string, variant: string, status = 403) => ({ row, variant, status });
  const [run] = runs;
  expect(
    variationCause(
      [
        at("request_id_on_errors", "present"),
        at("request_id_form", "long"),
        at("scope_order", "sorted", 200),
      ],
      run,
    ),
  ).toMatchObject({
    sentence:
      "fails when a 403 has an `X-Request-Id` and has an `X-Request-Id` of 200 characters and a 200 has its scopes sorted",
    whatToDo: [rows.request_id_on_errors.remedy, rows.request_id_form.remedy, rows.scope_order.remedy],
  });
});

test("a run whose time was over did not end, and its remedy names the wait", () => {
  const [run] = runs;
  const point = { row: "retry_after", variant: "seconds", status: 429 };
  expect(variationCause([point], { ...run, isLate: true })).toMatchObject({
    sentence: "does not end in time when a 429 has a `Retry-After` in seconds",
    whatToDo: [rows.retry_after.remedy, expect.stringContaining("--timeout")],
  });
});

test("a run that a fault breaks has the remedy of the fault, also if there was no time to find the path", () => {
  const facts = { code: 1, durationMs: 1, requests: 1, percent: 1 };
  const run = { ...minimal, ...facts, fault: "fault.truncate", outcome: "failed" } as const;
  expect(causedRun(run).cause?.whatToDo).toEqual([outcomeOf("fault.truncate").whatToDo]);
  expect(causedRun({ ...run, outcome: "flaky" }).cause).toBeUndefined();
});

test("points are the variants of minimal's rows that a run shows, and a variant shows only the chosen ones", () => {
  const at401 = (row: string, variant: string) => ({ row, variant, status: 401 });
  expect(pointsIn([at401("via", ""), quoted, quoted, at401("none", "one")])).toEqual([quoted]);
  const charset = { ...quoted, variant: "charset" };
  const [there, all] = [whereTheyWere([quoted, charset]), everywhere([quoted, charset])].map((one) =>
    conditionedRun(one),
  );
  const chosen = ["quoted", "charset", "other"].map((usual) =>
    [there, all].map((one) => one?.choose("content_type", usual, 401)),
  );
  expect(chosen).toEqual([
    ["quoted", "quoted"],
    ["charset", "charset"],
    ["", "quoted"],
  ]);
  expect([all?.choose("content_type", "quoted", 200), all?.choose("via", "quoted", 401)]).toEqual(["", ""]);
});

const items = Array.from({ length: 120 }, (_, i) => i);

/** Fails when all the planted items are there; counts how often it was asked. */
function oracle(planted: readonly number[]) {
  const asked = { times: 0 };
  const fails = async (some: readonly number[]) => {
    asked.times += 1;
    return planted.every((item) => some.includes(item));
  };
  return { fails, asked };
}

test("finds the items that were planted, and nothing else", async () => {
  const few = items.slice(0, 24);
  const planted = fc.uniqueArray(fc.constantFrom(...few), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(planted, async (some) => {
      const { fails } = oracle(some);
      expect([...(await minimize(few, fails))].sort()).toEqual([...some].sort());
    }),
  );
});

test("needs the logarithm of their number for each item, and an attempt to see that it is enough", async () => {
  const max = Math.ceil(Math.log2(items.length)) + 1;
  for (const item of items) {
    const [alone, pair] = [oracle([item]), oracle([...new Set([item, 60])])];
    expect(await minimize(items, alone.fails)).toEqual([item]);
    expect(alone.asked.times).toBeLessThanOrEqual(max);
    await minimize(items, pair.fails);
    expect(pair.asked.times).toBeLessThanOrEqual(2 * max);
  }
});

test("finds an item among the likely ones with fewer attempts, and also elsewhere", async () => {
  const [likely, other] = [oracle([2]), oracle([90])];
  expect(await minimize(items, likely.fails, 4)).toEqual([2]);
  expect(await minimize(items, other.fails, 4)).toEqual([90]);
  expect(likely.asked.times).toBeLessThanOrEqual(4);
});

test("stops with its result so far when the responses make no sense", async () => {
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.boolean()), async (responses) => {
      let asked = 0;
      const left = await minimize(items, async () => {
        asked += 1;
        return responses.next().value === true;
      });
      expect(left.length).toBeGreaterThan(0);
      expect(asked).toBeLessThanOrEqual(200);
    }),
  );
});

test("makes at most 200 attempts for a client that needs all of many points, and loses none of them", async () => {
  for (let length = 480; length < 520; length++) {
    const many = Array.from({ length }, (_, i) => i);
    const { fails, asked } = oracle(many);
    expect(await minimize(many, fails)).toEqual(many);
    expect(asked.times).toBe(200);
  }
});
