import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { nextRequest } from "../../src/api/next-request.js";
import { faultOutcomeIds, type OutcomeId, outcomes } from "../../src/rules/outcomes.js";
import { defaultKeyRef, secretToSend } from "../../src/sandbox/secrets.js";
import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import { parseScenario } from "../../src/scenario/scenario-source.js";
import { startFrozen } from "../support/doors.js";
import { asked } from "../support/send.js";

// Stories prove what happens in each scenario, and conformance that every door responds as the core does.

/** The default key of each bundled scenario, and what it gets when the clock starts. */
const defaultKeys: Readonly<Record<ScenarioName, readonly [ref: string, path: OutcomeId] | undefined>> = {
  "key-states": ["active", "200.test"],
  active: ["active", "200.test"],
  revoked: ["revoked", "401.revoked"],
  expired: ["expired", "401.expired"],
  "wrong-scope": ["wrong-scope", "403.insufficient_scope"],
  "live-not-approved": ["live-not-approved", "403.live_not_approved"],
  "live-suspended": ["live-suspended", "403.live_suspended"],
  "organization-inactive": ["organization-inactive", "403.access_denied"],
  "rate-limited": ["rate-limited", "429.per_day"],
  "legacy-keys": ["legacy", "200.legacy"],
  "bad-day": ["flaky", "200.test"],
  rotation: ["retiring", "200.retiring"],
  "announced-endpoints": ["lending", "200.test"],
  // Its keys are made while it runs.
  onboarding: undefined,
};
const names = Object.keys(defaultKeys) as ScenarioName[];

test("the bundled scenarios are the files in scenarios/, each with a first comment that shows how to run and play it", () => {
  const folder = join(import.meta.dirname, "../../scenarios");
  expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.yaml`).sort());
  for (const name of names) {
    const comment = readFileSync(join(folder, `${name}.yaml`), "utf8").split(/^[^#]/m)[0] ?? "";
    expect(comment).toContain(`npx --no-install svc-sandbox start ${name}`);
    expect(comment).toContain(`npx --no-install svc-sandbox play ${name}`);
    expect(comment).toContain("curl");
  }
});

test.each(names)("the default key of %s is in the state that its name promises", (name) => {
  const ref = defaultKeyRef(bundledScenarios[name]);
  expect(ref && [ref, nextRequest(startFrozen(name), ref).outcome]).toEqual(defaultKeys[name]);
});

test("key-states has a key for every promised outcome that a key can lead to", () => {
  const sandbox = startFrozen("key-states");
  const covered = [...sandbox.registry.keys.keys()].map((ref) => nextRequest(sandbox, ref).outcome);
  const withoutKey = ["401.missing", "401.malformed", "401.unknown"];
  const owed = outcomes.filter(({ id, promised }) => promised && !withoutKey.includes(id));
  expect([...new Set(covered)].sort()).toEqual(owed.map(({ id }) => id).sort());
});

test("bad-day has a key for every fault, and one key with several faults", () => {
  const sandbox = startFrozen("bad-day");
  const call = (ref: string) => {
    handle(sandbox, asked({ apiKey: secretToSend(sandbox, ref) }));
    return sandbox.journal.requests({ limit: 1 })[0]?.fault;
  };
  const refs = [...sandbox.registry.keys.keys()].filter((ref) => ref !== "flaky" && ref !== "untouched");
  const troubles = refs.map((ref) => {
    const [first, ...again] = [call(ref), call(ref), call(ref)];
    expect([ref, ...again]).toEqual([ref, first, first]);
    return first;
  });
  expect(new Set(troubles)).toEqual(new Set(faultOutcomeIds));
  expect(call("untouched")).toBeNull();
  const met = Array.from({ length: 50 }, () => call("flaky"));
  for (const one of ["fault.status", "fault.reset", "fault.latency", "fault.truncate", null] as const) {
    expect(met).toContain(one);
  }
});

test.each(Object.keys(bundledScenarios))("%s is valid with times as PyYAML writes them", (name) => {
  const text = readFileSync(join(import.meta.dirname, `../../scenarios/${name}.yaml`), "utf8");
  const rewritten = text.replace(/(\d{4}-\d\d-\d\d)T([\d:]+)Z/g, "$1 $2+00:00");
  expect(rewritten).not.toBe(text);
  expect(parseScenario(rewritten)).toMatchObject({ version: 1 });
});
