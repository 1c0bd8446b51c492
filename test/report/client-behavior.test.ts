import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { createSandbox, type Duration, type Sandbox, type Scenario } from "../../src/index.js";
import { type AdviceId, adviceIds } from "../../src/rules/advice.js";
import { parseDuration } from "../../src/rules/time.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { confirmKey } from "../support/confirm-key.js";
import { coverage, ofFirst } from "../support/coverage.js";
import { type Door, doors, type Sent } from "../support/doors.js";
import { sendOnSocket } from "../support/exchange.js";
import { mePath } from "../support/send.js";

interface Step extends Sent {
  readonly key?: string;
  readonly keys?: readonly string[];
  readonly header?: string;
  readonly times?: number;
  readonly every?: string;
  readonly at_once?: number;
  readonly fresh?: boolean;
  readonly pause?: string;
  readonly reset?: boolean;
  readonly clear?: boolean;
  readonly wait?: Extract<Duration, string>;
  readonly rotate?: string;
  readonly as?: string;
  readonly revoke?: string;
}

interface ClientCase {
  readonly client: string;
  readonly doors?: readonly string[];
  readonly faults?: Scenario["faults"];
  readonly assumptions?: Scenario["assumptions"];
  readonly limits?: object;
  readonly pinned?: string;
  readonly endpoints?: Scenario["endpoints"];
  readonly steps: readonly Step[];
  readonly advice?: Readonly<Record<string, number>>;
}

const file = join(import.meta.dirname, "../cases/client-behavior.yaml");
const cases: readonly ClientCase[] = parse(readFileSync(file, "utf8"), { merge: true });

/** What looks like a key of the real service. */
const realKey = "SVC_live_9f8e7d6c5b4a39281706f5e4d3c2b1a0";

// Real time stands still unless a case moves it.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** `key-states` with the faults, assumptions, limits and the pinned key of a case. */
function scenarioOf({ faults = [], assumptions, limits, pinned, endpoints }: ClientCase): Scenario {
  const scenario = structuredClone<Scenario>(bundledScenarios["key-states"]);
  for (const { keys = {} } of Object.values(scenario.organizations ?? {})) {
    if (limits !== undefined && "active" in keys) Object.assign(keys.active as object, { limits });
    if (pinned !== undefined && pinned in keys) Object.assign(keys[pinned] as object, { secret: realKey });
  }
  return {
    ...scenario,
    faults,
    ...(assumptions !== undefined && { assumptions }),
    ...(endpoints !== undefined && { endpoints }),
  };
}

/** Opens a door; connections to a socket stay open unless a request is to be `fresh`. */
async function openDoor(door: Door, scenario: Scenario) {
  const { sandbox, send: sendNew, port } = await door.open(scenario, { now: "2026-03-02T09:00:20Z" });
  if (port === undefined) return { sandbox, send: sendNew, sendNew };
  const agent = new Agent({ keepAlive: true, scheduling: "fifo" });
  onTestFinished(() => agent.destroy());
  return { sandbox, send: sendOnSocket(port, agent), sendNew };
}

/** The request of a step, with keys in the place of their refs. */
function requestOf(step: Step, secret: (ref: string) => string): Sent {
  const { key, header, path = mePath, method, body, headers = {} } = step;
  const encoded = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");
  const filled = (text: string) =>
    text.replace(/(%?)\{([\w-]+)\}/g, (_all, percent, ref) => (percent ? encoded : String)(secret(ref)));
  const { basic, ...others } = headers as Record<string, string>;
  return {
    path: filled(path),
    ...(method !== undefined && { method }),
    ...(body !== undefined && { body }),
    headers: {
      ...(key !== undefined && { "x-api-key": secret(key) }),
      ...(header !== undefined && { "x-api-key": filled(header) }),
      ...(basic !== undefined && { authorization: `Basic ${btoa(filled(basic))}` }),
      ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, filled(value)])),
    },
  };
}

async function runCase(one: ClientCase, door: Door): Promise<Sandbox> {
  const { sandbox, send, sendNew } = await openDoor(door, scenarioOf(one));
  const other = createSandbox({ seed: 99 }).secret("active");
  const made: Record<string, string> = { real: realKey, unknown: sandbox.secret("unknown"), other };
  const secret = (ref: string) => made[ref] ?? sandbox.secret(ref);
  const passTime = (time: string) => vi.advanceTimersByTime(parseDuration(time) as number);

  const sendAll = async (step: Step) => {
    const { times = 1, every = "0ms", at_once: atOnce, keys, fresh = false } = step;
    const together = keys?.map((key) => ({ ...step, key })) ?? Array<Step>(atOnce ?? 0).fill(step);
    await Promise.all(together.map((each) => send(requestOf(each, secret))));
    for (let i = 0; together.length === 0 && i < times; i++) {
      if (i > 0) passTime(every);
      await (fresh ? sendNew : send)(requestOf(step, secret));
    }
  };
  for (const step of one.steps) {
    const { pause, wait, rotate, revoke, reset, clear, as = "next" } = step;
    if (rotate !== undefined) made[as] = sandbox.keys.rotate(rotate, { as }).secret;
    else if (revoke !== undefined) sandbox.keys.revoke(revoke);
    else if (reset === true) sandbox.reset();
    else if (clear === true) sandbox.requests.clear();
    else if (pause !== undefined) passTime(pause);
    else if (wait === undefined) await sendAll(step);
    else {
      sandbox.clock.advance(wait);
      passTime(wait);
    }
  }
  return sandbox;
}

/** Advice on what a command does in the experiments of `certify`, or writes to its output. */
const notOnRequests: readonly AdviceId[] = [
  "same-key-after-401",
  "same-key-after-403",
  "too-soon-after-429",
  "too-soon-after-503",
  "key-in-output",
];

test("each advice on requests has a client that gets it", () => {
  const ofRequests = adviceIds.filter((id) => !notOnRequests.includes(id));
  expect(ofRequests.filter((id) => !cases.some(({ advice = {} }) => id in advice))).toEqual([]);
});

describe.each(doors)("a client ($name)", (door) => {
  const fitting = cases.filter((one) => one.doors?.includes(door.name) ?? true);
  test.each(fitting.map((one) => [one.client, one] as const))("that %s", async (_client, one) => {
    const sandbox = await runCase(one, door);
    const counted = sandbox.report().advice.map(({ id, count }) => [id, count]);
    expect(Object.fromEntries(counted)).toEqual(one.advice ?? {});
    const journaled = sandbox.requests.list().flatMap(({ advice }) => advice);
    const expected = Object.entries(one.advice ?? {}).flatMap(([id, count]) => Array(count).fill(id));
    expect(journaled.sort()).toEqual(expected.sort());
  });
});

test("the report has how often a key was resent after each outcome that rejected it, without the requests that were not rejected", async () => {
  const sandbox = createSandbox({ frozen: true });
  const refs = ["revoked", "wrong-scope", "revoked", "active", "revoked", "wrong-scope", "expired"] as const;
  for (const ref of refs) await sandbox.fetch(url, { headers: { "x-api-key": sandbox.secret(ref) } });
  const fingerprint = expect.stringMatching(/^[0-9a-f]{12}$/);
  expect(sandbox.report().resends).toEqual([
    { outcome: "401.revoked", key: "revoked", fingerprint, count: 2 },
    { outcome: "403.insufficient_scope", key: "wrong-scope", fingerprint, count: 1 },
  ]);
});

test("an outcome that was covered only by a key in a wrong place is not covered", async () => {
  const sandbox = createSandbox();
  const meet = (headers: Record<string, string>) =>
    sandbox.fetch(`https://any.example${mePath}`, { headers });
  const rowOf = (id: string) => sandbox.report().outcomes.find(({ outcome }) => outcome === id);
  const key = sandbox.secret("active");
  for (const header of [`Bearer ${key}`, "$SVC_API_KEY", `"${key}"`, `'${key}'`]) {
    await meet({ "x-api-key": header });
  }
  await meet({ "api-key": key });
  await sandbox.fetch(`https://any.example${mePath}?api_key=${key}`);
  expect(sandbox.report().coverage.covered).toBe(0);
  expect(rowOf("401.missing")).toMatchObject({ covered: false, count: 2, howToCover: { ref: "none" } });
  await meet({ "x-api-key": "not-a-key" });
  expect(rowOf("401.malformed")).toMatchObject({ covered: true, count: 5, howToCover: null });
});

test("a key that is not alone in its header is named", async () => {
  const sandbox = createSandbox();
  for (const header of ["Bearer KEY", '"KEY"', "KEY,"]) {
    sandbox.reset();
    const headers = { "x-api-key": header.replace("KEY", sandbox.secret("active")) };
    await sandbox.fetch(`https://any.example${mePath}`, { headers });
    expect([header, exampleOf(sandbox, "key-in-authorization")]).toEqual([
      header,
      expect.objectContaining({ key: "active" }),
    ]);
  }
});

const url = `https://any.example${mePath}`;
const encodedWhole = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

/** The first example of an advice. */
const exampleOf = (sandbox: Pick<ReturnType<typeof createSandbox>, "report">, id: string) =>
  sandbox.report().advice.find((row) => row.id === id)?.examples[0];

test("the example of a key in the query is of that key, and the journal's of the one in the header", async () => {
  const sandbox = createSandbox();
  const path = `${url}?a=${encodedWhole(sandbox.secret("revoked"))}`;
  await sandbox.fetch(path, { headers: { "x-api-key": sandbox.secret("active") } });
  await sandbox.fetch(path);
  expect(exampleOf(sandbox, "key-in-query")).toMatchObject({
    path: mePath,
    key: "revoked",
    fingerprint: sandbox.keys.get("revoked").fingerprint,
  });
  expect(sandbox.requests.list()).toMatchObject([
    { key: "active", fingerprint: sandbox.keys.get("active").fingerprint },
    { key: null, fingerprint: null },
  ]);
});

test("each advice of a request is about its own key, and none of them is in the report (R46)", async () => {
  const sandbox = createSandbox();
  await sandbox.fetch(`${url}?a=${realKey}`, {
    headers: { authorization: `Basic ${btoa(`:${sandbox.secret("live")}`)}`, "x-api-key": "none" },
  });
  expect(exampleOf(sandbox, "key-in-authorization")?.key).toBe("live");
  const real = exampleOf(sandbox, "real-key-suspected");
  expect(real).toEqual({ ...exampleOf(sandbox, "key-in-query"), key: null });
  expect(real?.fingerprint).toMatch(/^[0-9a-f]{12}$/);
  const text = JSON.stringify([sandbox.report(), sandbox.requests.list()]);
  for (const key of [realKey, sandbox.secret("live")]) expect(text).not.toContain(key.slice(9));
});

test("a pinned key that leaks is known", async () => {
  const keys = { pinned: { environment: "live", secret: realKey } } as const;
  const sandbox = createSandbox({
    scenario: { version: 1, organizations: { bank: { type: "bank", keys } } },
  });
  await sandbox.fetch(`${url}?a=${realKey}`);
  expect(sandbox.report().advice.map(({ id }) => id)).toEqual(["key-in-query"]);
  expect(exampleOf(sandbox, "key-in-query")?.key).toBe("pinned");
});

test.each(["minimal", "typical"] as const)("the example client earns notes at most (%s)", async (profile) => {
  const sandbox = createSandbox({ profile, frozen: true, now: "2026-03-02T09:00:20Z" });
  const wait = async (milliseconds: number) => void sandbox.clock.advance(milliseconds);
  const refs = sandbox.keys.list().map(({ ref }) => ref as "active");
  // The old keys of a rotation before the new one, as a client that has kept up; then those that make it wait.
  const late: string[] = ["rotated", "retiring", "replacement", "rate-limited-minute", "rate-limited"];
  const inOrder = [...refs.filter((ref) => !late.includes(ref)), ...(late as (typeof refs)[number][])];
  for (const apiKey of [...inOrder.map(sandbox.secret), sandbox.secret("unknown"), "not-a-key"]) {
    await confirmKey({ baseUrl: "https://any.example", apiKey, fetch: sandbox.fetch, wait, attempts: 4 });
  }
  await sandbox.fetch("https://any.example/v1/relying-party/me");
  expect(sandbox.report().coverage).toEqual(coverage(ofFirst.length));
  expect(sandbox.requests.list({ outcome: "429.per_day" }).length).toBeGreaterThan(
    profile === "minimal" ? 3 : 0,
  );
  expect(sandbox.report().advice.filter(({ level }) => level !== "note")).toEqual([]);
});
