import type { CertifyResult, PromiseRun, Run } from "../../src/certify/result.js";
import type { Report, ReportedPath } from "../../src/report/report-shape.js";

const path = (pathId: ReportedPath["pathId"], count: number, more: object = {}): ReportedPath => ({
  pathId,
  promised: true,
  covered: count > 0,
  count,
  when: `what ends on ${pathId}`,
  howToCover:
    count > 0
      ? null
      : {
          ref: "bank",
          request: { method: "GET", path: "/v1/relying-party/me", headers: {}, body: null },
          scenario: null,
          reset: false,
          text: "send SVC_KEY_BANK",
          curl: 'curl -H "x-api-key: $SVC_KEY_BANK" "$SVC_BASE_URL/v1/relying-party/me"',
        },
  ...more,
});

const sandbox = { scenario: "key-states", pinned: [] } as const;

const report: Report = {
  ...sandbox,
  seed: 1,
  profile: "minimal",
  runs: [
    { ...sandbox, seed: 1, profile: "minimal" },
    { ...sandbox, seed: 2, profile: "varied" },
  ],
  requests: 31,
  unread: 1,
  coverage: { percent: 66, covered: 2, promised: 3 },
  announced: { covered: 0, total: 0 },
  faults: { covered: 1, total: 7 },
  endpoints: [
    {
      ...{ method: "GET", path: "/v1/relying-party/me", operationId: "getRelyingPartyContext" },
      ...({ release: "released", requests: 22, covered: true } as const),
    },
  ],
  paths: [
    path("200.test", 22),
    path("401.revoked", 9),
    path("403.insufficient_scope", 0),
    path("404.unknown_path", 0, { promised: false, howToCover: null }),
    path("fault.reset", 2, { promised: false }),
  ],
  advice: [
    {
      id: "same-key-after-401",
      level: "error",
      rule: "R11–R14",
      count: 7,
      meaning: "A key that had got 401 was sent again.",
      whatToDo: "Stop at the first 401.",
      examples: [
        {
          id: "req_0123456789abcdef01234567",
          at: "2026-03-02T09:00:00.000Z",
          method: "GET",
          path: "/v1/relying-party/me",
          key: "revoked",
          fingerprint: "3f0e8a526c1d",
          didYouMean: null,
        },
      ],
    },
  ],
  repeats: [{ pathId: "401.revoked", key: "revoked", fingerprint: "3f0e8a526c1d", count: 7 }],
};

const run = (name: string, more: Partial<Run> = {}): Run => ({
  name,
  profile: "varied",
  seed: 1,
  outcome: "passed",
  code: 0,
  durationMs: 1_250,
  requests: 5,
  percent: 66,
  ...more,
});

const promise = (id: string, more: Partial<PromiseRun> = {}): PromiseRun => ({
  id,
  pathId: id.split(":")[0] as PromiseRun["pathId"],
  kind: "other",
  sentence: `what ${id} breaks`,
  loss: "the client acts on a permission that the key does not have",
  outcome: "noticed",
  code: 1,
  durationMs: 1_200,
  ...more,
});

const cause = {
  sentence: "fails when a 401 has charset=utf-8 in its Content-Type",
  whatToDo: ["Compare only the media type before the `;` of `Content-Type` (RFC 9110)."],
  points: [{ row: "content_type", variant: "charset", status: 401 }],
  pathId: "401.revoked",
} as const;
const lastRequest = { id: "req_89abcdef0123456789abcdef", pathId: "401.revoked", status: 401 } as const;

/** A client that two causes break, with every member that a result can have. */
export const failed: CertifyResult = {
  scenario: "key-states",
  scenarioDigest: "5f".repeat(32),
  document: {
    ...{ title: "Relying-Party API", version: "0.2.0", file: "api.yaml" },
    ...{ digest: "6e".repeat(32), given: true },
  },
  specification: "0.1.0",
  sandbox: "0.1.0",
  seeds: [1, 2, 3],
  faults: ["fault.reset"],
  command: ["npm", "run", "test:api", "--", "--grep", "it's a key"],
  startedAt: "2026-03-02T08:59:58.123Z",
  durationMs: 12_345,
  runs: [
    run("minimal", { profile: "minimal", lastRequest: { ...lastRequest, pathId: "200.test", status: 200 } }),
    run("typical", { profile: "typical" }),
    run("varied 1", { outcome: "failed", code: 1, cause, lastRequest }),
    run("varied 2", { seed: 2, outcome: "failed", code: 1, cause }),
    run("varied 3", { seed: 3, outcome: "flaky", code: 1 }),
    run("fault.reset", {
      profile: "minimal",
      fault: "fault.reset",
      outcome: "timed_out",
      code: null,
      requests: 1,
      percent: 0,
      cause: {
        sentence: "does not end when a connection is reset",
        ...{ whatToDo: ["Connect anew and send the request again."], points: [], fault: "fault.reset" },
      },
    }),
    run("fault.hang", { fault: "fault.hang", outcome: "not_run", code: null, requests: 0, percent: 0 }),
  ],
  promises: {
    kinds: "all",
    tried: 4,
    noticed: 1,
    runs: [
      promise("200.test:rejected", { kind: "swap" }),
      promise("200.test:scopes-empty", { outcome: "not_noticed", code: 0 }),
      promise("401.revoked:accepted", { kind: "swap", outcome: "not_noticed", code: 0 }),
      promise("403.insufficient_scope:another-code", { outcome: "not_noticed", code: null }),
      promise("200.test:usage-not-counting", { outcome: "not_tried", code: 0 }),
      promise("429.per_minute:never-ends", { outcome: "not_run", code: null, durationMs: 0 }),
    ],
  },
  retries: [
    {
      after: "401",
      outcome: "failed",
      sentence: "When certify rejected active with 401, 3 more requests followed.",
      whatToDo: "Stop at the first 401.",
    },
    { after: "outage", outcome: "not_tried", sentence: "The run was not made.", whatToDo: "Raise --budget." },
  ],
  notTried: [
    {
      kind: "experiment",
      what: "retries after outage",
      why: "The run was not made.",
      whatToDo: "Raise --budget.",
    },
    { kind: "run", what: "fault.hang", why: "the run was not made", whatToDo: "Raise --budget." },
    ...["200.test:usage-not-counting", "429.per_minute:never-ends"].map((what) => ({
      ...{ kind: "promise" as const, what, why: "the run was not made", whatToDo: "Raise --budget." },
    })),
  ],
  gates: { failOn: "warning", minCoverage: 60, minNoticed: 80 },
  unmet: [{ gate: "noticed", threshold: "--min-noticed 80", sentence: "The client notices 1 of 4." }],
  report,
  verdict: "failed",
};

/** A client that nothing breaks, with as few members as a result can have. */
export const passed: CertifyResult = {
  scenario: "key-states",
  scenarioDigest: "5f".repeat(32),
  specification: "0.1.0",
  sandbox: "0.1.0",
  seeds: [],
  faults: [],
  command: ["pytest"],
  startedAt: "2026-03-02T08:59:58.123Z",
  durationMs: 900,
  runs: [run("minimal", { profile: "minimal" })],
  promises: {
    ...{ kinds: "swaps", tried: 2, noticed: 2 },
    runs: [promise("200.test:rejected"), promise("401.revoked:accepted")],
  },
  notTried: [],
  gates: { failOn: "error", minCoverage: 0 },
  unmet: [],
  report: { ...report, advice: [], unread: 0 },
  verdict: "passed",
};
