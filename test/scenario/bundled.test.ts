import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluateKey } from "../../src/api/evaluate.js";
import { handle } from "../../src/api/handle.js";
import {
  type FaultPathId,
  faultPathIds,
  mePath,
  outcomeOf,
  outcomes,
  type PathId,
} from "../../src/domain/outcomes.js";
import { advanceClock } from "../../src/sandbox/operations/change-world.js";
import { defaultKeyRef, scenarioSecret } from "../../src/sandbox/secrets.js";
import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import { answeringScenarios } from "../support/answering-scenarios.js";
import { describeDoors, openTestWorld } from "../support/doors.js";
import { baseUrl, runCli, startCli } from "../support/run-cli.js";

/** What each key of each bundled scenario gets when the clock starts; the first of each is the default key. */
const promised: Readonly<Record<ScenarioName, Readonly<Record<string, PathId>>>> = {
  "key-states": {
    active: "200.test",
    live: "200.live",
    legacy: "200.legacy",
    "legacy-live": "200.legacy",
    revoked: "401.revoked",
    expired: "401.expired",
    rotated: "401.rotated",
    retiring: "200.retiring",
    replacement: "200.replacement",
    "wrong-scope": "403.insufficient_scope",
    "rate-limited": "429.per_day",
    "rate-limited-minute": "429.per_minute",
    "live-not-approved": "403.live_not_approved",
    "live-suspended": "403.live_suspended",
    "organization-inactive": "403.access_denied",
  },
  active: { active: "200.test", live: "200.live", "in-use": "200.test" },
  revoked: { revoked: "401.revoked", fresh: "200.test", "other-system": "200.test" },
  expired: { expired: "401.expired", expiring: "200.test", lasting: "200.test" },
  "wrong-scope": {
    "wrong-scope": "403.insufficient_scope",
    "right-scope": "200.test",
    "both-scopes": "200.test",
  },
  "live-not-approved": {
    "live-not-approved": "403.live_not_approved",
    test: "200.test",
    "live-approved": "200.live",
  },
  "live-suspended": {
    "live-suspended": "403.live_suspended",
    "second-live": "403.live_suspended",
    test: "200.test",
  },
  "organization-inactive": {
    "organization-inactive": "403.access_denied",
    "inactive-live": "403.access_denied",
    "inactive-revoked": "401.revoked",
    "other-organization": "200.test",
  },
  "rate-limited": {
    "rate-limited": "429.per_day",
    "rate-limited-minute": "429.per_minute",
    "three-a-minute": "200.test",
    untouched: "200.test",
  },
  "legacy-keys": {
    legacy: "200.legacy",
    "legacy-live": "200.legacy",
    "legacy-retiring": "200.retiring",
    current: "200.replacement",
    "legacy-rotated": "401.rotated",
    "current-live": "200.replacement",
  },
  "bad-day": {
    flaky: "200.test",
    untouched: "200.test",
    delayed: "200.test",
    unavailable: "200.test",
    "bad-gateway": "200.test",
    "connection-reset": "200.test",
    "cut-short": "200.test",
    "broken-json": "200.test",
    slow: "200.test",
    hanging: "200.test",
  },
  rotation: { retiring: "200.retiring", rotated: "401.rotated", replacement: "200.replacement" },
  "announced-endpoints": {
    lending: "200.test",
    "lending-live": "200.live",
    statistics: "200.test",
    underwriting: "200.test",
  },
  // Its keys are made while it runs.
  onboarding: {},
  population: {
    "core-banking": "200.test",
    "core-banking-live": "200.live",
    "nightly-batch": "200.test",
    "lost-laptop": "401.revoked",
    ...ofPopulation(200, ["200.test", "200.live", "200.test"]),
  },
};

/** What the keys of so many organizations get, each of them in its turn. */
function ofPopulation(organizations: number, paths: readonly PathId[]): Record<string, PathId> {
  const numbers = Array.from({ length: organizations }, (_, index) => index + 1);
  return Object.fromEntries(
    numbers.flatMap((number) =>
      paths.map((path, index) => [`organization-${number}-key-${index + 1}`, path] as const),
    ),
  );
}

const names = Object.keys(promised) as ScenarioName[];

test("the bundled scenarios are the files in scenarios/, each opening with a comment that says how to run and play it", () => {
  const folder = join(import.meta.dirname, "../../scenarios");
  expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.yaml`).sort());
  for (const name of names) {
    const comment = readFileSync(join(folder, `${name}.yaml`), "utf8").split(/^[^#]/m)[0] ?? "";
    expect(comment).toContain(`npx svc-sandbox start ${name}`);
    expect(comment).toContain(`npx svc-sandbox play ${name}`);
    expect(comment).toContain("curl");
  }
});

test.each(names)("%s has exactly its keys, the first of them the default", async (name) => {
  const world = openTestWorld(name);
  const foreseen = [...world.registry.keys.keys()].map((ref) => [ref, evaluateKey(world, ref).pathId]);
  expect(Object.fromEntries(foreseen)).toEqual(promised[name]);
  expect(defaultKeyRef(bundledScenarios[name])).toBe(Object.keys(promised[name])[0]);
});

test("key-states meets every promised path that a key can lead to", () => {
  const withoutKey = ["401.missing", "401.malformed", "401.unknown"];
  const owed = outcomes.filter(({ path, promised: isPromised }) => isPromised && !withoutKey.includes(path));
  const met = new Set(Object.values(promised["key-states"]));
  expect(owed.map(({ path }) => path).filter((path) => !met.has(path))).toEqual([]);
});

describeDoors("every key of every bundled scenario without faults", (open) => {
  test.each(answeringScenarios)("of %s gets its status and is journaled on its path", async (name) => {
    const door = await open(name);
    for (const [ref, path] of Object.entries(promised[name])) {
      expect([ref, (await door.me({ ref })).status]).toEqual([ref, outcomeOf(path).status]);
      expect(door.world.journal.list({ limit: 1 })[0]).toMatchObject({ key: ref, pathId: path });
    }
    await door.close();
  });
});

/** On which fault a request with each key of bad-day ends, or by which it is only delayed. */
const troubles: Readonly<Record<string, FaultPathId>> = {
  delayed: "fault.latency",
  unavailable: "fault.status",
  "bad-gateway": "fault.status",
  "connection-reset": "fault.reset",
  "cut-short": "fault.truncate",
  "broken-json": "fault.malformed",
  slow: "fault.slow",
  hanging: "fault.hang",
};

test("bad-day meets every fault with a key of its own, and one key meets a bit of everything", () => {
  const world = openTestWorld("bad-day");
  const call = (ref: string) => {
    handle(world, { method: "GET", path: mePath, apiKey: scenarioSecret(world, ref) });
    return world.journal.list({ limit: 1 })[0]?.fault;
  };
  for (const [ref, fault] of Object.entries(troubles)) {
    for (let i = 0; i < 3; i++) expect([ref, call(ref)]).toEqual([ref, fault]);
  }
  expect(new Set(Object.values(troubles))).toEqual(new Set(faultPathIds));
  expect(call("untouched")).toBeNull();
  const met = Array.from({ length: 50 }, () => call("flaky"));
  for (const one of ["fault.status", "fault.reset", "fault.latency", "fault.truncate", null] as const) {
    expect(met).toContain(one);
  }
});

test("the way out: what time changes, changes", () => {
  const world = openTestWorld("key-states");
  world.clock.advance(60_000);
  expect(evaluateKey(world, "rate-limited-minute").pathId).toBe("200.test");
  expect(evaluateKey(world, "rate-limited").pathId).toBe("429.per_day");
  world.clock.advance(29 * 60_000);
  expect(evaluateKey(world, "retiring").pathId).toBe("401.rotated");
});

test("live-suspended: a day after the start the suspension is lifted by itself, and not before (R20)", () => {
  const world = openTestWorld("live-suspended");
  const refs = ["live-suspended", "second-live", "test"];
  const paths = () => refs.map((ref) => evaluateKey(world, ref).pathId);
  advanceClock(world, 24 * 3_600_000 - 1);
  expect(paths()).toEqual(["403.live_suspended", "403.live_suspended", "200.test"]);
  advanceClock(world, 1);
  expect(paths()).toEqual(["200.live", "200.live", "200.test"]);
});

test("onboarding starts without a key, and every word of the command line knows what to do about it", async () => {
  expect(await runCli(["keys", "onboarding", "--format", "json"])).toMatchObject({ code: 0, stdout: "[]\n" });
  expect(await runCli(["keys", "onboarding", "--format", "env"])).toMatchObject({ code: 0, stdout: "" });
  expect((await runCli(["explain", "none", "onboarding"])).stdout).toContain("401.missing");
  const running = startCli(["start", "onboarding", "--port", "0"]);
  const url = await baseUrl(running);
  expect(running.stdout.text()).toMatch(/^ {2}curl -i http:\/\/127\.0\.0\.1:\d+\/v1\/relying-party\/me$/m);
  expect((await fetch(`${url}${mePath}`)).status).toBe(401);
  expect((await running.stop()).code).toBe(0);
});
