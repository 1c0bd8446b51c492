import { describe, expect, test } from "vitest";
import { failed } from "../../test/certify/certified.js";
import { conditionedRun } from "../api/conditioned-run.js";
import type { Endpoint } from "../api/endpoint.js";
import { builtIn } from "../api/routes.js";
import type { Report, ReportedPath } from "../report/report-shape.js";
import type { RunConditions } from "../sandbox/conditions.js";
import { certify } from "./certification.js";
import { noWrites } from "./evidence.js";
import { type PlannedRun, planOf, typicalAssumptions } from "./plan.js";
import type { CausePoint } from "./result.js";
import type { CertificationPlan, ClientRun, Progress } from "./runs.js";

const covered = ["200.test", "401.revoked", "401.expired", "403.access_denied", "429.per_day"] as const;
const report: Report = {
  ...failed.report,
  paths: failed.report.paths.flatMap((row) =>
    row.pathId === "200.test" ? covered.map((pathId) => ({ ...row, pathId })) : [],
  ),
  coverage: { percent: 29, covered: 5, promised: failed.report.coverage.promised },
};

const passes: ClientRun = {
  outcome: "passed",
  code: 0,
  durationMs: 100,
  report,
  points: [{ row: "via", variant: "gateway", status: 200 }],
  sent: [{ key: "active", nth: 0, paths: ["200.test"] }],
  output: [],
  lastOn: () => undefined,
  suspect: undefined,
  hits: 1,
  unvaried: [],
  scenarios: [],
  times: [],
  silentMs: 0,
  writes: noWrites,
};
const fails: ClientRun = { ...passes, outcome: "failed", code: 1 };

/** How a run of a client ends. */
type Client = (planned: PlannedRun, variant: RunConditions) => ClientRun;

/** Certifies a client that is a function: no process, and a second of time for each run. */
async function certified(client: Client, plan: Partial<CertificationPlan> = {}, maxRuns = 1000) {
  const made: string[] = [];
  const shown: string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const show = (text: string) => void shown.push(text);
  const progress: Progress = {
    begin: show,
    ran: ({ name }) => show(name),
    broke: ({ id }) => show(id),
    tried() {},
    found: ({ name, outcome, cause }) => show(`${name} ${cause?.sentence ?? outcome}`),
  };
  const {
    runs,
    promises,
    retries,
    open,
    report: merged,
  } = await certify(
    {
      runs: planOf(1, [1, 2], ["fault.hang"]),
      endpoints: builtIn,
      jobs: 1,
      kinds: "none",
      only: [],
      ...plan,
    },
    {
      run(planned, variant, { isWanted }) {
        const run = last.then(() => {
          if (!isWanted() || made.length >= maxRuns) return undefined;
          made.push(planned.name);
          return client(planned, variant);
        });
        // The next run waits until this one is recorded.
        last = run.then(() => new Promise((resolve) => setImmediate(resolve)));
        return run;
      },
      separate: ({ name }) => show(`${name} was disturbed`),
      isStopped: () => made.length >= maxRuns,
      stopwatch: () => made.length * 1000,
      progress,
    },
  );
  const outcomes = runs.map(({ outcome }) => outcome);
  return { made, shown, promises, retries, ...open, merged, outcomes, runs };
}

test("the baseline runs first, then the profile typical, faults and promises, then the seeds", async () => {
  const { made, shown, outcomes, promises } = await certified(() => passes, {
    only: ["401.revoked:accepted"],
  });
  expect(made).toEqual(["minimal", "typical", "fault.hang", "minimal", "varied 1", "varied 2"]);
  expect(outcomes).toEqual(Array(5).fill("passed"));
  expect(promises.runs.map((one) => [one.id, one.outcome])).toEqual([
    ["401.revoked:accepted", "not_noticed"],
  ]);
  expect(shown.slice(0, 2)).toEqual(["minimal", "5 more runs: about 1 s"]);
});

test("a run that sends nothing, or in which nothing happened, is not tried although its command ends with 0", async () => {
  const cached: Client = ({ name }) =>
    name === "minimal" ? passes : { ...passes, sent: [], points: [], hits: 0 };
  const { outcomes, runs, promises } = await certified(cached, { only: ["401.revoked:accepted"] });
  expect(outcomes).toEqual(["passed", ...Array(4).fill("not_tried")]);
  expect(runs[1]?.reason).toMatchObject({ why: expect.stringContaining("sent no request") });
  expect(promises.runs.map(({ outcome }) => outcome)).toEqual(["not_noticed"]);
  const untouched = await certified(() => ({ ...passes, points: [], hits: 0 }));
  expect(untouched.outcomes).toEqual(["passed", ...Array(4).fill("not_tried")]);
  const failing = await certified(({ name }) => (name === "minimal" ? passes : { ...fails, hits: 0 }));
  expect(failing.outcomes).not.toContain("not_tried");
});

test("assumptions that the sandboxes of the client set are open, unless another sandbox varied them", async () => {
  const setting = (row: string): ClientRun => ({
    ...passes,
    points: [{ row, variant: "date", status: 429 }],
    unvaried: ["retry_after"],
  });
  expect((await certified(() => setting("via"))).unvaried).toEqual(["retry_after"]);
  expect((await certified(() => setting("retry_after"))).unvaried).toEqual([]);
});

test("after a run that fails only next to another, what failed or was noticed before is made again", async () => {
  let isApart = false;
  const client: Client = (planned, { promise }) => {
    const isNoticed = promise !== undefined;
    const isShared = !isApart;
    const isDisturbed = isShared && planned.name === "varied 2";
    if (isDisturbed) isApart = true;
    return isNoticed || isDisturbed ? { ...fails, isShared } : { ...passes, isShared };
  };
  const { made, shown, outcomes, promises } = await certified(client, { only: ["401.revoked:accepted"] });
  expect(shown).toContain("varied 2 was disturbed");
  expect(outcomes).toEqual(Array(5).fill("passed"));
  // Alone while it is narrowed, again as the run, and the promise that was noticed before.
  expect(made.slice(-3)).toEqual(["varied 2", "varied 2", "minimal"]);
  expect(promises.runs.map(({ outcome }) => outcome)).toEqual(["noticed"]);
});

test.each<[string, Client, string]>([
  ["fails each time", () => fails, "failed"],
  ["covers too little", () => ({ ...passes, report: failed.report }), "passed"],
  ["does not end", () => ({ ...fails, outcome: "timed_out", code: null }), "timed_out"],
])("after a baseline that %s, no other run is made", async (_, client, outcome) => {
  const { outcomes } = await certified(client);
  expect(outcomes).toEqual([outcome, ...Array(4).fill("not_run")]);
});

test("a baseline that fails once is flaky, and no other run is made", async () => {
  let runs = 0;
  const { made, outcomes } = await certified(() => (runs++ === 0 ? fails : passes));
  expect([made, outcomes]).toEqual([
    ["minimal", "minimal"],
    ["flaky", ...Array(4).fill("not_run")],
  ]);
});

const point = (row: string, variant: string) => ({ row, variant, status: 401 });
/** What a client sees of a point of its run: the variant, or none where the run does not vary it. */
const seen = (given: RunConditions, { row, variant, status }: CausePoint) =>
  conditionedRun(given).choose(row, variant, status);

test("runs that the same row breaks with another variant are shown once each, and the report is about all runs", async () => {
  const variants: Readonly<Record<string, string>> = { "varied 1": "quoted", "varied 2": "charset" };
  const client: Client = ({ name }, variant) => {
    const own = point("content_type", variants[name] ?? "");
    return seen(variant, own) === "" ? passes : { ...fails, points: [own] };
  };
  const { runs, merged, shown, made } = await certified(client, { runs: planOf(1, [1, 2], []) });
  expect(runs.slice(2).map(({ outcome, cause }) => [outcome, cause?.points])).toEqual([
    ["failed", [point("content_type", "quoted")]],
    ["failed", [point("content_type", "charset")]],
  ]);
  expect(shown).toContain("Narrowing down why 2 of them fail");
  expect(merged?.requests).toBe(4 * report.requests);
  // For the second run, the row of the first one's cause is tried alone.
  expect(made.slice(4).filter((name) => name === "varied 2")).toHaveLength(1);
});

test("points of a run that passed are tried last", async () => {
  const innocent = [200, 403, 404, 429, 500].map((status) => ({ ...point("via", "present"), status }));
  const guilty = point("via", "present");
  const client: Client = ({ name }, variant) => {
    if (name === "varied 2") return { ...passes, points: innocent };
    const isBroken = name === "varied 1" && seen(variant, guilty) !== "";
    return isBroken ? { ...fails, points: [...innocent, guilty] } : passes;
  };
  const { runs, made } = await certified(client, { runs: planOf(1, [1, 2], []) });
  expect(runs[2]?.cause?.points).toEqual([guilty]);
  // The first attempt already leaves them out.
  expect(made).toHaveLength(9);
});

test("with bail, nothing starts after a failure, and its cause is found", async () => {
  const { outcomes, runs } = await certified(({ fault }) => (fault ? fails : passes), {
    bail: true,
    runs: planOf(1, [1, 2], ["fault.hang", "fault.reset"]),
  });
  expect(outcomes).toEqual(["passed", "passed", "failed", ...Array(3).fill("not_run")]);
  expect(runs[2]?.cause?.fault).toBe("fault.hang");
});

test("after the budget nothing starts, except for the baseline", async () => {
  expect((await certified(() => passes, { budget: 500 })).made).toEqual(["minimal"]);
  expect((await certified(() => passes, { budget: 25e2 })).made).toEqual([
    "minimal",
    "typical",
    "fault.hang",
  ]);
});

test("runs that the user stops are not run, and no cause is concluded from them", async () => {
  const { outcomes, runs } = await certified(({ fault }) => (fault ? fails : passes), {}, 4);
  expect(outcomes).toEqual(["passed", "passed", "failed", "passed", "not_run"]);
  expect(runs[2]?.cause?.pathId).toBeUndefined();
});

test("a baseline that needs one assumption of typical is shown which, after one try without each", async () => {
  const client: Client = ({ profile }, { assumptions }) =>
    (assumptions?.error_details ?? profile === "typical") ? passes : fails;
  const { made, runs, outcomes } = await certified(client);
  expect(outcomes).toEqual(["failed", ...Array(4).fill("not_run")]);
  expect(runs[0].cause?.sentence).toMatch(/because it needs `error_details`$/);
  // Twice without the one that it needs, and once more as they are.
  expect(made).toHaveLength(3 + typicalAssumptions.length + 1 + 2);
  const { runs: others } = await certified(() => fails);
  expect(others[0].cause).toBeUndefined();
});

test.each([[[0, 1, 3, 4, 5]], [[0, 1, 3, 4, 5, 10, 11, 12, 13]]])(
  "a baseline that fails by chance in the runs %j is flaky, and needs nothing",
  async (failing) => {
    let runs = 0;
    const { runs: shown } = await certified(() => (failing.includes(runs++) ? fails : passes));
    expect([shown[0].outcome, shown[0].cause]).toEqual(["flaky", undefined]);
  },
);

test("a client that still waits in a hang is not made to wait again", async () => {
  const waits: ClientRun = { ...fails, outcome: "timed_out", code: null, suspect: "401.revoked" };
  const client: Client = ({ fault }) => (fault === "fault.hang" ? waits : passes);
  const { made, runs } = await certified(client);
  expect(runs[2]?.cause?.sentence).toMatch(/^still waiting after 30 s, .* on 401\.revoked /);
  expect((await certified(client, { timeout: 8000 })).runs[2]?.cause?.sentence).toMatch(/after 8 s,/);
  expect(made).toEqual(["minimal", "typical", "fault.hang", "varied 1", "varied 2"]);
});

test.each([
  [true, ["not_noticed", "not_run"], 1],
  [false, ["not_noticed"], 5],
])("a swap that is not noticed ends everything with bail: %j", async (bail, outcomes, count) => {
  const client: Client = (_planned, { promise }) => ({ ...passes, hits: promise === undefined ? 0 : 1 });
  const { promises } = await certified(client, { bail, kinds: "swaps", only: undefined });
  expect([...new Set(promises.runs.map(({ outcome }) => outcome))]).toEqual(outcomes);
  expect([promises.tried, promises.noticed]).toEqual([count, 0]);
});

describe("writes under a fault", () => {
  const path = "201.createLoan";
  const covering = {
    ...report,
    paths: [...report.paths, { ...report.paths[0], pathId: path } as ReportedPath],
  };
  const { responsesContext: _, ...own } = builtIn[0] as Endpoint;
  const create: Endpoint = { ...own, operationId: "createLoan", status: 201 };
  const plan = { runs: planOf(1, [], ["fault.truncate"]), endpoints: [...builtIn, create] };
  const writing: ClientRun = { ...passes, report: covering, writes: { once: new Set([path]) } };
  const isHit = ({ faults = [] }: RunConditions, hit: string) =>
    faults.some(({ when }) => when?.path_id === hit);

  test("a client that gives up a write that it must not repeat is not judged by it", async () => {
    const gives = (variant: RunConditions) =>
      isHit(variant, path) ? { ...fails, writes: noWrites } : writing;
    const { outcomes, unjudged, made } = await certified((_, variant) => gives(variant), plan);
    expect(outcomes).toEqual(["passed", "passed", "passed"]);
    expect(unjudged).toEqual([{ fault: "fault.truncate", paths: [path] }]);
    expect(made).toEqual(["minimal", "typical", "fault.truncate", "fault.truncate"]);
  });

  test("it is judged by every other path", async () => {
    const gives = (variant: RunConditions) => (isHit(variant, "200.test") ? fails : writing);
    const { runs } = await certified((_, variant) => gives(variant), plan);
    expect(runs[2]).toMatchObject({ outcome: "failed", cause: { pathId: "200.test" } });
  });
});
