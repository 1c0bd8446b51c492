import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runStory } from "../../src/api/story/run-story.js";
import { createSandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import type { SandboxEvent } from "../../src/sandbox/journal/journal.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import { allDifferences } from "../../src/sandbox/steps.js";
import { parseScenario } from "../../src/scenario/scenario-source.js";
import { serveControl } from "../control/client.js";
import { continued } from "../support/continued.js";
import { doors } from "../support/doors.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scenario = parseScenario(`
version: 1
clock: { now: 2026-03-02T09:00:00Z, frozen: true }
organizations:
  harvest-bank:
    type: bank
    live_access: approved
    keys:
      main: { environment: test }
      live: { environment: live }
timeline:
  - { at: 10m, rotate: { key: main, as: next, overlap: 30m } }
  - { at: 20m, organization: { ref: harvest-bank, live_access: suspended } }
  - { at: 20m, create_key: { organization: harvest-bank, environment: live, name: Late } , expect: { error: live_access_not_approved } }
  - { at: 2026-03-02T09:30:00Z, faults: [{ when: { key: next, requests: [2] }, then: { status: 503 } }] }
  - { at: 2h, revoke: { key: next } }
`);

const codeOf = (body: string): string | undefined => JSON.parse(body).error?.code;

describe.each(doors)("a timeline ($name)", ({ open }) => {
  test("things happen as the clock passes them, each at its own instant", async () => {
    const { me, sandbox, send } = await open(scenario);
    const state = stateOf(sandbox);
    runDue(state);
    expect((await me({ ref: "main" })).status).toBe(200);
    expect(state.registry.keys.has("next")).toBe(false);

    state.clock.advance(9 * 60_000 + 59_999);
    expect((await me({ ref: "main" })).status).toBe(200);
    expect(state.registry.keys.has("next")).toBe(false);

    state.clock.advance(1);
    expect((await me({ ref: "live" })).status).toBe(200);
    expect((await me({ ref: "next" })).status).toBe(200);
    expect(state.registry.key("main").key.overlapEndsAt).toBe(Date.parse("2026-03-02T09:40:00Z"));

    // Everything up to 10:00 at once, without a look at the state in between.
    state.clock.set(Date.parse("2026-03-02T10:00:00Z"));
    const main = await me({ ref: "main" });
    expect([main.status, codeOf(main.body)]).toEqual([401, "unauthorized"]);
    expect(codeOf((await me({ ref: "live" })).body)).toBe("live_access_not_approved");
    expect([(await me({ ref: "next" })).status, (await me({ ref: "next" })).status]).toEqual([200, 503]);

    state.clock.set(Date.parse("2026-03-02T11:30:00Z"));
    expect((await send({})).status).toBe(401);
    expect(state.registry.key("next").key.revokedAt).toBe(Date.parse("2026-03-02T11:00:00Z"));
  });
});

test("the timeline's steps are reported once, in order, with rejected ones", () => {
  const sandbox = createSandbox({ scenario });
  const told: SandboxEvent[] = [];
  stateOf(sandbox).journal.subscribe((event) => told.push(event));
  sandbox.clock.advance("3h");
  const steps = told.filter(({ type }) => type === "timeline.step");
  const step = (at: string, action: string, error: string | null = null) => ({
    result: {
      ...{ at: `2026-03-02T${at}:00.000Z`, step: { [action]: expect.anything() } },
      ...{ performed: { error: error && { code: error } }, differences: [] },
    },
  });
  expect(steps).toMatchObject([
    step("09:10", "rotate"),
    step("09:20", "organization"),
    step("09:20", "create_key", "live_access_not_approved"),
    step("09:30", "faults"),
    step("11:00", "revoke"),
  ]);
  sandbox.clock.advance("3h");
  expect(told.filter(({ type }) => type === "timeline.step")).toHaveLength(5);
  expect(told.map(({ type }) => type).slice(0, 2)).toEqual(["clock.moved", "key.rotated"]);
});

test("the keys that a timeline makes have the secrets that the seed gives, in every run", () => {
  const secrets = [7, 7, 8].map((seed) => {
    const sandbox = createSandbox({ scenario, seed });
    expect(() => sandbox.secret("next")).toThrow(expect.objectContaining({ code: "unknown_ref" }));
    sandbox.clock.advance("10m");
    return sandbox.secret("next");
  });
  expect(secrets[0]).toBe(secrets[1]);
  expect(secrets[0]).not.toBe(secrets[2]);
});

test("with a running clock, a server reports a step when it happens", async () => {
  const { server, sandbox } = await serveControl({
    frozen: false,
    scenario: { ...scenario, timeline: [{ at: "1s", revoke: { key: "main" } }] },
  });
  const told: string[] = [];
  sandbox.journal.subscribe(({ type }) => told.push(type));
  await expect.poll(() => told).toContain("key.revoked");
  expect(server.sandbox.keys.get("main").revokedAt).toBe("2026-03-02T09:00:01.000Z");
});

const dueAtStart = `
version: 1
organizations:
  a: { type: bank, keys: { main: { environment: test } } }
timeline:
  - { at: 0s, revoke: { key: main } }
  - { at: 0s, revoke: { key: main }, expect: { error: name_taken } }
story:
  - request: { key: main }
    expect: { outcome: 401.revoked }
`;

test("R41 a step that is due at the start has run for keys as for a client", async () => {
  const cwd = temporaryFolder({ "zero.yaml": dueAtStart });
  const keys = await runCli(["keys", "zero.yaml", "--json"], { cwd });
  expect(JSON.parse(keys.stdout)).toMatchObject([{ ref: "main", status: 401 }]);
});

test("the first step of a story shows what the steps did that were due at the start, also that one was not as expected", () => {
  const sandbox = stateOf(createSandbox({ scenario: parseScenario(dueAtStart) }));
  const [first] = [...runStory(sandbox)];
  expect(first?.timeline.map(({ step }) => step.at)).toEqual(["0s", "0s"]);
  expect(first && allDifferences(first)).toMatchObject([
    {
      field: ["timeline", 1, "expect", "error"],
      expected: '"name_taken"',
      found: expect.stringContaining("key_not_active"),
    },
  ]);
});

test("a step before the real time is an error where its scenario starts, as one before clock.now", async () => {
  const past = dueAtStart.replace("{ at: 0s, revoke", "{ at: 2020-01-01T00:00:00Z, revoke");
  const problems = [expect.objectContaining({ code: "timeline_order", field: "timeline[0].at" })];
  expect(() => parseScenario(past)).toThrow(expect.objectContaining({ problems }));
  const cwd = temporaryFolder({ "past.yaml": past });
  const { code, stderr } = await runCli(["validate", "past.yaml"], { cwd });
  expect([code, stderr.includes("past.yaml:6:")]).toEqual([1, true]);
});

test("a reset of a sandbox whose steps are over by then runs them at once", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 2, 2, 9) });
  onTestFinished(() => void vi.useRealTimers());
  const later = dueAtStart.replaceAll("at: 0s", "at: 2026-03-02T10:00:00Z");
  const sandbox = createSandbox({ scenario: parseScenario(later) });
  expect(sandbox.keys.get("main").state).toBe("active");
  vi.setSystemTime(Date.UTC(2026, 2, 2, 11));
  sandbox.reset();
  expect(sandbox.keys.get("main").state).toBe("revoked");
});

test("a step that a start puts before an earlier one in the list runs together with that one", () => {
  const unordered = dueAtStart
    .replace("at: 0s, revoke: { key: main } }", "at: 2h, faults: [] }")
    .replace("at: 0s", "at: 2030-01-01T00:30:00Z")
    .replace(", expect: { error: name_taken }", "");
  const sandbox = createSandbox({ scenario: parseScenario(unordered), now: "2030-01-01T00:00:00Z" });
  const copy = continued(sandbox);
  for (const started of [sandbox, copy]) {
    started.clock.advance("3h");
    expect(started.keys.get("main").revokedAt).toBe("2030-01-01T02:00:00.000Z");
  }
});
