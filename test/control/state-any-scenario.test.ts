import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseScenario, type Scenario, ScenarioError } from "../../src/index.js";
import { deriveSecret } from "../../src/scenario/keys.js";
import { type SandboxServer, startServer } from "../../src/server/index.js";
import { control } from "../support/call-control.js";
import { runs } from "../support/property-seed.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Whatever scenario starts, and whatever users do to it over HTTP, its file continues it: each key gets the same response as from a
// server that never stopped.

const startOfTime = Date.parse("2026-03-02T23:58:30Z");
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

const refs = ["main", "main-2", "main-3", "second", "third", "fourth", "fifth", "sixth"] as const;
const organizations = ["bank", "insurer"] as const;
const scopeSets = [["attestations:read"], ["consents:write"], ["attestations:read", "consents:write"]];
/** Before the start of the clock, soon after it, in its year, and much later. */
const times = [
  "2020-01-01T00:00:00Z",
  "2026-03-02T23:58:31Z",
  "2026-03-03T00:10:00Z",
  "2099-01-01T00:00:00Z",
];
const durations = ["-1d", "0s", "1s", "90s", "30m", "6d"];
const timeOrDuration = fc.constantFrom(...times, ...durations);
const environment = fc.constantFrom("test" as const, "test" as const, "live" as const);
const limits = fc.record({ per_minute: fc.nat(3), per_day: fc.nat(4) });
const optional = { requiredKeys: ["environment"] as const };

const keyFields = fc.record(
  {
    environment,
    legacy: fc.boolean(),
    scopes: fc.constantFrom(...scopeSets),
    limits,
    state: fc.constantFrom("active", "revoked", "expired", "retiring", "rotated"),
    replaced_by: fc.constantFrom(...refs),
    expires: timeOrDuration,
    overlap_ends: timeOrDuration,
    usage: fc.record({ this_minute: fc.nat(2), today: fc.integer({ min: 2, max: 4 }) }),
    // A text that the seed would derive for another key.
    secret: fc
      .constantFrom(...refs)
      .map((ref) => deriveSecret(1, { ref, environment: "test", legacy: false })),
  },
  { requiredKeys: [...optional.requiredKeys] },
);

/** Most keys have few fields, since many contradict each other. */
const anyKey = fc.oneof(
  { weight: 3, arbitrary: fc.record({ environment, expires: timeOrDuration }, optional as never) },
  {
    weight: 2,
    arbitrary: fc.record({ environment, scopes: fc.constantFrom(...scopeSets), limits }, optional as never),
  },
  { weight: 2, arbitrary: keyFields },
);
const keysOf = (chosen: readonly string[]) =>
  fc.record(Object.fromEntries(chosen.map((ref) => [ref, anyKey])), { requiredKeys: [] });
const organization = (keys: readonly string[]) =>
  fc.record(
    {
      type: fc.constantFrom("bank", "insurer"),
      status: fc.constantFrom("active", "active", "inactive"),
      live_access: fc.constantFrom("approved", "suspended", "not_approved"),
      keys: keysOf(keys),
    },
    { requiredKeys: ["type", "keys"] },
  );

const assumptions = fc.record(
  {
    profile: fc.constantFrom("minimal", "typical", "varied"),
    scopes: fc.constantFrom(...scopeSets),
    me_scope: fc.constantFrom("attestations:read", "consents:write", null),
  },
  { requiredKeys: [] },
);

const fault = fc.record({
  when: fc.record(
    {
      key: fc.constantFrom(...refs),
      every: fc.integer({ min: 1, max: 3 }),
      until: fc.constantFrom("1m", "1h"),
    },
    { requiredKeys: [] },
  ),
  then: fc.constantFrom({ status: 503 }, { malformed: true }),
});

const step = fc.oneof(
  fc.record({ revoke: fc.record({ key: fc.constantFrom(...refs) }) }),
  fc.record({ rotate: fc.record({ key: fc.constantFrom(...refs), overlap: fc.constantFrom("0s", "1m") }) }),
  fc.record({ expire: fc.record({ key: fc.constantFrom(...refs), expires: fc.constantFrom("0s", "1m") }) }),
);
const timedStep = fc.tuple(fc.constantFrom("0s", "1s", "2s", "1m", ...times), step);

const anyScenario = fc.record(
  {
    version: fc.constant(1),
    clock: fc.record({ now: fc.constantFrom(...times), frozen: fc.boolean() }, { requiredKeys: [] }),
    assumptions,
    organizations: fc.record(
      { bank: organization(refs.slice(0, 6)), insurer: organization(refs.slice(6)) },
      { requiredKeys: ["bank"] },
    ),
    population: fc.record({ organizations: fc.nat(2) }),
    faults: fc.array(fault, { maxLength: 2 }),
    timeline: fc
      .array(timedStep, { maxLength: 3 })
      .map((steps) => steps.map(([at, does]) => ({ at, ...does }))),
  },
  { requiredKeys: ["version", "organizations"] },
);

/** What somebody does over HTTP; what is refused changes nothing. */
const operation = fc.oneof(
  fc.record({
    line: fc.constantFrom(...refs).map((ref) => `POST /keys/${ref}/revoke`),
    body: fc.constant({}),
  }),
  fc.record({
    line: fc.constantFrom(...refs).map((ref) => `POST /keys/${ref}/rotate`),
    body: fc.record({ overlap: fc.constantFrom("0s", "1s", "60m") }),
  }),
  fc.record({
    line: fc.constant("POST /keys"),
    body: fc.record(
      {
        organization: fc.constantFrom(...organizations),
        environment,
        name: fc.constant("CI"),
        scopes: fc.constantFrom(...scopeSets),
        ref: fc.constantFrom(...refs),
      },
      { requiredKeys: ["organization", "environment", "name"] },
    ),
  }),
  fc.record({
    line: fc.constantFrom(...organizations).map((ref) => `PATCH /organizations/${ref}`),
    body: fc.record(
      {
        status: fc.constantFrom("active", "inactive"),
        live_access: fc.constantFrom("approved", "suspended"),
      },
      { requiredKeys: ["status"] },
    ),
  }),
  fc.record({
    line: fc.constant("PUT /faults"),
    body: fc.array(fault, { maxLength: 2 }).map((faults) => ({ faults })),
  }),
  fc.record({
    line: fc.constant("POST /clock/advance"),
    body: fc.record({ by: fc.constantFrom("1s", "61s", "1d") }),
  }),
  fc.record({ line: fc.constant("PUT /clock"), body: fc.record({ frozen: fc.boolean() }) }),
  fc.record({ line: fc.constant("POST /story/next"), body: fc.constant({}) }),
  fc.record({ line: fc.constant("POST /reset"), body: fc.constant({}) }),
  fc.record({ line: fc.constantFrom(...refs).map((ref) => `POST /send ${ref}`), body: fc.constant({}) }),
);

async function perform(server: SandboxServer, { line, body }: { line: string; body: object }): Promise<void> {
  const [method, path, ref] = line.split(" ") as [string, string, string?];
  const sent = ref === undefined ? body : { key: ref };
  const { status } = await control(server.controlUrl as string, `${method} ${path}`, sent);
  expect(status).toBeLessThan(500);
}

/** What each key gets now: twice, so that usage counts, too. */
async function responses({ sandbox }: Pick<SandboxServer, "sandbox">): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (const { ref } of sandbox.keys.list()) {
    let secret: string;
    try {
      secret = sandbox.secret(ref);
    } catch {
      continue; // created at run time: only its hash is kept
    }
    for (const _ of ["first", "second"]) {
      const request = new Request(`http://sandbox.test${mePath}`, { headers: { "x-api-key": secret } });
      const response = await sandbox.fetch(request);
      const headers = [...response.headers].filter(
        ([name]) => !/request|trace|correlation|\bid\b/i.test(name),
      );
      // Ids are never given out again; with `varied`, a body of an error may have one, too.
      const text = (await response.text()).replace(
        /"[\w-]*(?:request|trace|correlation)[\w-]*":\s*"[^"]*"/gi,
        "",
      );
      all.push([ref, response.status, headers, text]);
    }
  }
  return all;
}

/** The scenario without what breaks a rule, taken out part by part: what is left is often just inside of the rules. */
function mended(scenario: object): Scenario | undefined {
  const copy = structuredClone(scenario);
  for (let tries = 0; tries < 30; tries++) {
    try {
      return parseScenario(JSON.stringify(copy));
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      const [problem] = error.problems;
      if (problem === undefined || problem.field === "") return undefined;
      takeOut(copy, problem.field.match(/[^.[\]]+/g) ?? []);
    }
  }
  return undefined;
}

/** Takes out a step or a fault, else a field; a key or an organization without its type is none. */
function takeOut(scenario: object, path: readonly string[]): void {
  let names = path;
  const listIndex = path.findIndex((name) => /^\d+$/.test(name));
  if (listIndex !== -1) names = path.slice(0, listIndex + 1);
  else if (/^(?:environment|type)$/.test(path.at(-1) as string)) names = path.slice(0, -1);

  let owner = scenario as Record<string, object>;
  for (const name of names.slice(0, -1)) owner = owner[name] as Record<string, object>;
  const last = names.at(-1) as string;
  if (Array.isArray(owner)) owner.splice(Number(last), 1);
  else delete owner[last];
}

const pauses = fc.constantFrom(0, 1, 250, 999, 2_000, 61_000);

test("what starts with a file is continued from it, whatever the scenario and whatever was acknowledged", async () => {
  let started = 0;
  const property = async (
    generated: object,
    operations: readonly { line: string; body: object }[],
    [beforeStop, stopped]: readonly [number, number],
  ) => {
    vi.setSystemTime(startOfTime);
    const scenario = mended(generated);
    if (scenario === undefined) return;
    const state = join(temporaryFolder(), "state.json");
    const options = { scenario, state } as const;
    let server: SandboxServer;
    try {
      server = (await startServer(options)) as SandboxServer;
    } catch (error) {
      // What only the clock shows is refused at the start, before anything is lost.
      if (error instanceof ScenarioError) return;
      throw error;
    }

    started += 1;
    for (const done of operations) await perform(server, done);
    vi.setSystemTime(Date.now() + beforeStop);
    await server.close(0);
    vi.setSystemTime(Date.now() + stopped);

    const continued = (await startServer(options)) as SandboxServer;
    expect(continued.sandbox.keys.list()).toEqual(server.sandbox.keys.list());
    expect(await responses(continued)).toEqual(await responses(server));
    await continued.close(0);
  };
  const { numRuns, seed } = runs(400);
  await fc.assert(
    fc.asyncProperty(anyScenario, fc.array(operation, { maxLength: 6 }), fc.tuple(pauses, pauses), property),
    { seed, numRuns },
  );
  // The generator does not only make scenarios that are refused.
  expect(started).toBeGreaterThan(numRuns / 2);
}, 300_000);
