import * as fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { reportOfRun } from "../../src/cli/run-client.js";
import { unmetThresholds } from "../../src/cli/thresholds.js";
import { createSandbox } from "../../src/index.js";
import { startInNode } from "../../src/node/platform.js";
import { mergeReports } from "../../src/report/merge-reports.js";
import { clientReport } from "../../src/report/report.js";
import { renderReport } from "../../src/report/report-layout.js";
import { type Report, reportShape } from "../../src/report/report-shape.js";
import type { RequestTraits } from "../../src/rules/request.js";
import type { Fault } from "../../src/sandbox/faults.js";
import type { Exchange } from "../../src/sandbox/journal/exchange.js";
import { advanceClock, operations } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretsByRef } from "../../src/sandbox/secrets.js";
import { prepareReplacement, replaceScenario, restartSandbox } from "../../src/sandbox/start-sandbox.js";
import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import { resolveSource } from "../../src/scenario/scenario-source.js";
import { coverage, coverageText } from "../support/coverage.js";
import { runs } from "../support/property-seed.js";
import { asked, mePath } from "../support/send.js";

const faults: Fault[] = [
  { when: { every: 7 }, then: { status: 503 } },
  { when: { every: 5 }, then: { latency: "20ms" } },
  { when: { probability: 0.1 }, then: { slow: 100 } },
  { when: { probability: 0.1 }, then: { truncate: true } },
];
const open = (name: ScenarioName) => () =>
  startInNode({ scenario: { ...bundledScenarios[name], faults }, name }, { frozen: true });

/** One event in the life of a sandbox. */
const happening = fc.record({
  what: fc.oneof(
    { weight: 160, arbitrary: fc.constant("ask" as const) },
    { weight: 16, arbitrary: fc.constantFrom("reset" as const, "advance" as const) },
    { weight: 16, arbitrary: fc.constant("exchange" as const) },
    { weight: 1, arbitrary: fc.constant("clear" as const) },
  ),
  times: fc.integer({ min: 5, max: 20 }),
  key: fc.nat(30),
  odd: fc.nat(9),
});
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

const odd: Readonly<Record<number, { method?: string; path?: string; traits?: RequestTraits }>> = {
  1: { method: "POST" },
  2: { path: "/v1/nothing" },
  3: { traits: ["query"] },
  4: { traits: ["query", "key in query"] },
  5: { traits: ["key in other header", "browser header"] },
};

/** Sends requests with a key of the sandbox that runs, with none, or with one that nobody holds. */
function ask(sandbox: SandboxState, { times, key, odd: form }: Happening): void {
  const keys = [...Object.values(secretsByRef(sandbox)), undefined, "SVC_test_sbxNobody", "SVC_live_r", "x"];
  for (let i = 0; i < times; i++) handle(sandbox, asked({ apiKey: keys[key % keys.length], ...odd[form] }));
}

function countOf(heard: readonly Exchange[]): Record<string, number> {
  const counts: Record<string, number> = { requests: heard.length };
  for (const { outcome, fault, advice } of heard) {
    for (const id of new Set([outcome, ...(fault === null ? [] : [fault]), ...advice])) {
      counts[id] = (counts[id] ?? 0) + 1;
    }
  }
  return counts;
}

function reported(sandbox: SandboxState): Record<string, number> {
  const { requests, outcomes, advice } = clientReport(sandbox);
  return Object.fromEntries([
    ["requests", requests],
    ...outcomes.filter(({ count }) => count > 0).map(({ outcome, count }) => [outcome, count]),
    ...advice.map(({ id, count }) => [id, count]),
  ]);
}

/** Lets everything happen to a sandbox; returns the most requests that were in a report. */
function play(happenings: readonly Happening[]): number {
  const sandbox = open("key-states")();
  let heard: Exchange[] = [];
  sandbox.journal.subscribe((event) => {
    if (event.type === "request") heard.push(event.exchange);
  });
  let max = 0;
  for (const one of happenings) {
    if (one.what === "ask") ask(sandbox, one);
    else if (one.what === "reset") restartSandbox(sandbox);
    else if (one.what === "advance") advanceClock(sandbox, { by: one.times * 60_000 });
    else if (one.what === "exchange") {
      const another = resolveSource(one.odd < 5 ? "rotation" : "bad-day");
      replaceScenario(sandbox, prepareReplacement(sandbox, another));
    } else {
      operations.clear_requests(sandbox);
      heard = [];
    }
    max = Math.max(max, heard.length);
  }
  expect(reported(sandbox)).toEqual(countOf(heard));
  return max;
}

test("the report counts every request, no matter what happens to the sandbox and the journal", () => {
  let max = 0;
  fc.assert(
    fc.property(fc.array(happening, { minLength: 150, maxLength: 200, size: "max" }), (happenings) => {
      max = Math.max(max, play(happenings));
    }),
    runs(8),
  );
  // More than the journal holds.
  expect(max).toBeGreaterThan(1000);
});

test("an advice counts all of its requests, and has the first five as examples, also of several runs", () => {
  const sandbox = open("key-states")();
  for (let request = 0; request < 8; request++) handle(sandbox, asked({ path: "/v1/relying-party/you" }));
  const report = clientReport(sandbox);
  const first = sandbox.journal.requests().slice(0, 5);
  for (const [{ advice }, count] of [[report, 8] as const, [mergeReports([report, report]), 16] as const]) {
    const earned = advice.find(({ id }) => id === "wrong-method-or-path");
    expect([earned?.count, earned?.examples.map(({ id }) => id)]).toEqual([count, first.map(({ id }) => id)]);
  }
});

test("a call of the control plane at a wrong base URL is no request of a client", () => {
  const sandbox = open("key-states")();
  for (const path of ["/v1/__sandbox", "/v1/__sandbox/", "/v1/__sandbox/keys"]) {
    handle(sandbox, asked({ path }));
  }
  expect(clientReport(sandbox).requests).toBe(0);
  handle(sandbox, asked({ path: "/v1/my__sandbox" }));
  expect(clientReport(sandbox).requests).toBe(1);
});

test("merged reports sum how often each key was sent again, by ref or by fingerprint", async () => {
  const unknown = `SVC_test_sbx${"0".repeat(29)}`;
  const reportOf = async (seed: number, times: number) => {
    const sandbox = createSandbox({ seed });
    for (const key of [sandbox.secret("revoked"), unknown]) {
      for (let n = 0; n < times; n += 1) {
        await sandbox.fetch(`https://any.example${mePath}`, { headers: { "x-api-key": key } });
      }
    }
    return sandbox.report();
  };
  const merged = mergeReports([await reportOf(1, 3), await reportOf(2, 4)]);
  expect(merged.resends).toMatchObject([
    { outcome: "401.revoked", key: "revoked", count: 5 },
    { outcome: "401.unknown", key: null, count: 5 },
  ]);
});

test("merged reports sum all counts, cover what any run covers, and name each scenario once", async () => {
  const reportOf = async (seed: number, ref: "active" | "revoked") => {
    const sandbox = createSandbox({ seed });
    await sandbox.fetch(`https://any.example${mePath}`, { headers: { "x-api-key": sandbox.secret(ref) } });
    return { ...sandbox.report(), unread: seed };
  };
  const [one, other] = [await reportOf(1, "active"), await reportOf(2, "revoked")];
  const merged = mergeReports([mergeReports([one, other]), one]);
  const { scenario, runs, requests, unread, coverage } = merged;
  expect([scenario, runs?.map(({ seed }) => seed), requests, unread]).toEqual([
    "key-states",
    [1, 2, 1],
    3,
    4,
  ]);
  expect([one.coverage.covered, other.coverage.covered, coverage.covered]).toEqual([1, 1, 2]);
  const [success, revoked, expired] = ["200.test", "401.revoked", "401.expired"].map((id) =>
    merged.outcomes.find(({ outcome }) => outcome === id),
  );
  expect(success).toMatchObject({ covered: true, count: 2, howToCover: null });
  expect(revoked).toMatchObject({ covered: true, count: 1, howToCover: null });
  expect(expired).toMatchObject({ covered: false, count: 0, howToCover: { ref: "expired" } });
  expect(merged.endpoints[0]).toMatchObject({ requests: 3, covered: true });
  expect(mergeReports([other]).endpoints[0]).toMatchObject({ requests: 1, covered: false });
});

test("merged reports have only members that they merge, and none that a newer version adds", () => {
  const sandbox = open("key-states")();
  const apiKey = secretsByRef(sandbox).revoked;
  for (let sent = 0; sent < 2; sent++) handle(sandbox, asked({ apiKey, traits: ["key in query"] }));
  const report = clientReport(sandbox);
  const newer = <Row>(row: Row): Row => ({ ...row, lastAt: "2026-03-02T09:00:00.000Z" });
  const later = newer({
    ...report,
    outcomes: report.outcomes.map(newer),
    endpoints: report.endpoints.map(newer),
    advice: report.advice.map(newer),
    resends: report.resends.map(newer),
  });
  const merged = mergeReports([later, later]);
  for (const list of [merged.outcomes, merged.endpoints, merged.advice, merged.resends]) {
    expect(list.length).toBeGreaterThan(0);
  }
  expect(merged).toEqual(mergeReports([report, report]));
});

test("a merged report, and a single one that is merged, has each member of the report's shape, in all its rows", () => {
  const sandbox = open("key-states")();
  const apiKey = secretsByRef(sandbox).revoked;
  for (let sent = 0; sent < 2; sent++) handle(sandbox, asked({ apiKey, traits: ["key in query"] }));
  const merged = mergeReports([clientReport(sandbox)]);
  const namesOf = (row: object | undefined) => Object.keys(row ?? {}).sort();
  expect(namesOf(merged)).toEqual(namesOf(reportShape.fields));
  for (const name of ["outcomes", "endpoints", "advice", "resends"] as const) {
    const list = reportShape.fields[name] as unknown as { item: { fields: object } }; // each is a list of mappings
    expect([name, namesOf(merged[name][0])]).toEqual([name, namesOf(list.item.fields)]);
  }
});

test("advice that only a newer version has is merged too, so that --fail-on counts it", () => {
  const sandbox = open("key-states")();
  handle(sandbox, asked({ apiKey: secretsByRef(sandbox).revoked, traits: ["key in query"] }));
  const report = clientReport(sandbox);
  const [known] = report.advice as [Report["advice"][number]];
  const newer = { ...known, id: "advice-of-tomorrow" as typeof known.id, level: "error" as const, count: 2 };
  const merged = mergeReports([{ ...report, advice: [newer, known] }, report]);
  expect(merged.advice.map(({ id, count }) => [id, count])).toEqual([
    [known.id, 2],
    ["advice-of-tomorrow", 2],
  ]);
  const unmet = unmetThresholds(merged, { failOn: "error" });
  expect(unmet.map(({ sentence }) => sentence.includes("advice-of-tomorrow"))).toEqual([true]);
});

test("a report counts the lines of output with keys, and names the first five", () => {
  const sandbox = open("key-states")();
  const keysInOutput = Array.from({ length: 6 }, (_, index) => `line ${index}`);
  const row = (given: readonly string[]) =>
    reportOfRun(sandbox, sandbox.counters, given).advice.find(({ id }) => id === "key-in-output");
  expect(row([])).toBeUndefined();
  expect(row(keysInOutput)).toMatchObject({
    count: 6,
    meaning: expect.stringMatching(/line 3 and line 4\.$/),
  });
});

test("announced endpoints never lower the coverage, and their own figure is next to it", async () => {
  const sandbox = createSandbox({ scenario: "announced-endpoints" });
  const send = (path: string) =>
    sandbox.fetch(`https://any.example/v1/relying-party${path}`, {
      headers: { "x-api-key": sandbox.secret("lending") },
    });
  await send("/me");
  const report = sandbox.report();
  expect(report).toMatchObject({ coverage: coverage(1), announced: { covered: 0, total: 5 } });
  expect(report.endpoints.map(({ release }) => release)).toEqual(["released", ...Array(5).fill("announced")]);
  await send("/attestations");
  const later = mergeReports([report, sandbox.report()]);
  expect(later).toMatchObject({ coverage: coverage(1), announced: { covered: 1, total: 5 } });
  expect(renderReport(later, "text")).toContain(
    `${coverageText(1)}. Announced endpoints: 1 of 5 covered. No advice.`,
  );
});
