import { defaultScopes, type KeyEnds, keyStateAt, keyStateTable } from "../rules/api-key.js";
import { assumptionsFor } from "../rules/assumptions.js";
import type { RejectionCode } from "../rules/errors.js";
import { writeMembers } from "../rules/organization.js";
import { outcomes, type PathId } from "../rules/outcomes.js";
import { maximumProblems } from "../rules/schema/check.js";
import { type Path, pathText } from "../rules/schema/shape.js";
import { nearest, quote } from "../rules/schema/words.js";
import { defaultSeed } from "../rules/seed.js";
import { keysWritten } from "../scenario/checks/facts.js";
import type { FaultFields } from "../scenario/checks/faults.js";
import { unknownScopes } from "../scenario/checks/keys.js";
import { lastClockInstant } from "../scenario/format/fields.js";
import { checkInput, inputShapes } from "../scenario/format/inputs.js";
import {
  describedKeys,
  type ScenarioKey,
  type ScenarioOrganization,
  sharedValues,
} from "../scenario/population.js";
import { ScenarioError, type ScenarioMistake } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { createClock, type Instant, instantOf, isoOf, requireClockTime } from "./clock.js";
import { assumptionsIn, nameSuffixOf, withNameSuffix, withoutGrantedScopes } from "./conditions.js";
import { activateFaults, describeFaults } from "./faults.js";
import { type Counts, createCounters } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import { createHistory } from "./journal/history.js";
import { createRegistry, type KeyEntry, scenarioRecords, startKey, usageAt, windowsOf } from "./keys.js";
import { farmersOf } from "./population/farmers.js";
import { createRequestIds, numberInSeries, numberInto } from "./request-ids.js";
import {
  type GivenOptions,
  type Platform,
  replaceState,
  type SandboxState,
  type ServedEndpoint,
  type StartedScenario,
  type StartOptions,
} from "./sandbox.js";
import {
  createTimeline,
  type PlayedStep,
  remainingSteps,
  type StoryProgress,
  type Timeline,
} from "./steps.js";

export interface SandboxSettings {
  readonly platform: Platform;
  readonly given?: GivenOptions | undefined;
}

export function givenOptions({ seed, now, frozen, profile, openapi }: GivenOptions): GivenOptions {
  return { seed, now, frozen, profile, openapi };
}

type WrittenOptions = Omit<GivenOptions, "now"> & { readonly now?: Instant | undefined };

/** The options that a caller wrote, with the start of the clock as an instant; throws `validation_failed`. */
export function checkedOptions({ now, ...options }: WrittenOptions): GivenOptions {
  const { seed, frozen, profile } = options;
  const given = givenOptions({ ...options, now: now === undefined ? undefined : instantOf(now) });
  if (seed !== undefined || frozen !== undefined || profile !== undefined) {
    checkInput(inputShapes.sandbox_options, { seed, frozen, profile }, "Invalid options");
  }
  return given;
}

/** The same scenario, seed and start result in the same ids, names, secrets and request ids. */
export function startSandbox(
  scenario: Scenario,
  { platform, given = {}, ...options }: StartOptions & SandboxSettings,
): SandboxState {
  const started = prepareScenario({ platform }, scenario, options);
  return { ...started, platform, given, counters: createCounters(), history: createHistory() };
}

/** Starts the running scenario again, with other options if given; throws if it cannot start, and changes nothing then. */
export function resetSandbox(sandbox: SandboxState, options?: GivenOptions): void {
  const { scenario, name, text } = sandbox;
  const started =
    options === undefined
      ? startedWith(sandbox, scenario, sandbox)
      : prepareScenario(sandbox, scenario, { ...options, name, text });
  enterScenario(sandbox, started);
}

/** Starts another scenario in a sandbox, with the next series of request ids. */
export function enterScenario(sandbox: SandboxState, started: StartedScenario): void {
  const { seed, scenario, name } = started;
  const first = numberInto(sandbox.requestIds.series() + 1, scenario.requests_responded ?? 0);
  replaceState(sandbox, { ...started, requestIds: createRequestIds(seed, first) });
  sandbox.history.enter();
  sandbox.history.emit({ type: "sandbox.started", scenario: name, seed });
}

type StartContext = Pick<SandboxState, "platform">;

/** Returns the state of a checked scenario at its start; throws if it cannot start. */
export function prepareScenario(
  context: StartContext,
  given: Scenario,
  options: StartOptions,
): StartedScenario {
  if (options.now !== undefined) requireClockTime(options.now, "now");
  const scenario = withOptions(given, options);
  // Another seed may generate a secret or an id that the scenario pins.
  const shared = options.seed === undefined ? [] : sharedValues(scenario);
  const { openapi } = scenario;
  const named = openapi === undefined ? given : { ...given, openapi };
  const problems = [...shared, ...unknownNames(named, context.platform)];
  if (problems.length > 0)
    throw new ScenarioError(problems.map((one) => ({ ...one, path: pathText(one.path) })));
  return startedWith(context, scenario, options);
}

/** The names in a scenario that its sandbox lacks: endpoints, and the scopes of keys. */
export function unknownNames(scenario: Scenario, platform: Platform) {
  const mistakes: (ScenarioMistake & { readonly hint: string })[] = [];
  const report = (one: ScenarioMistake) => {
    if (mistakes.length < maximumProblems) mistakes.push({ ...one, hint: one.hint ?? "" });
  };
  const endpoints = platform.endpoints(scenario, report);
  const { profile = "minimal", ...own } = scenario.assumptions ?? {};
  const { scopes } = assumptionsFor(profile, own, endpoints);
  return [
    ...unknownEndpoints(scenario, endpoints),
    ...unknownScopes(keysWritten(scenario), scopes),
    ...mistakes,
  ];
}

/** The scopes that only the operations of a scenario's document need: keys without own scopes have them. */
function documentedScopes(platform: Platform, scenario: Scenario): readonly string[] {
  const { openapi, ...rest } = scenario;
  if (openapi === undefined) return [];
  const builtIn = platform.endpoints(rest);
  const added = platform.endpoints(scenario).filter((one) => !builtIn.includes(one));
  const needed = added.flatMap(({ scope }) => scope ?? []);
  return [...new Set(needed)].filter((scope) => !defaultScopes.includes(scope));
}

function seededIn(scenario: Scenario, platform: Platform) {
  const { seed = defaultSeed } = scenario;
  const { now } = scenario.clock ?? {};
  const start = now === undefined ? (platform.run?.start ?? platform.time()) : instantOf(now);
  return { seed, start, farmers: farmersOf(scenario, { seed, start, make: platform.farmers }) };
}

function startedWith(
  { platform }: StartContext,
  scenario: Scenario,
  { name = scenario.name ?? "unnamed", text }: Pick<StartOptions, "name" | "text">,
): StartedScenario {
  // Read before the start, so that the clock never lags behind the real time, however long the rest takes.
  const readAt = platform.steadyTime();
  const { seed, start, farmers } = seededIn(scenario, platform);
  const endpoints = platform.endpoints(scenario);
  const { profile = "minimal", ...givenAssumptions } = scenario.assumptions ?? {};
  const documented = documentedScopes(platform, scenario);
  const profiled = { seed, profile, givenAssumptions, platform };
  const assumptions = assumptionsIn(profiled, endpoints);
  const windows = windowsOf(assumptions);
  const { organizations, keys, unknownKey } = scenarioRecords(scenario, seed, platform.sha256);
  return {
    name,
    scenario,
    text,
    startedAt: start,
    seed,
    profile,
    assumptions,
    givenAssumptions,
    windows,
    farmers,
    endpoints,
    clock: createClock({ time: platform.steadyTime, start, readAt, frozen: scenario.clock?.frozen }),
    faults: activateFaults(scenario.faults ?? [], seed, start),
    timeline: createTimeline(scenario.timeline ?? [], start),
    story: { steps: scenario.story ?? [], next: 0, verdicts: new Map(), last: undefined },
    registry: createRegistry(
      organizations.map((one) => withNameSuffix(profiled, one)),
      keys.map((one) => startKey(one, start, windows, profiled, documented)),
    ),
    requestIds: createRequestIds(seed, scenario.requests_responded),
    behavior: { rejected: new Map(), pages: new Set(), unknownKey },
    varied: variedIn(scenario),
  };
}

function variedIn({ responses_varied: counts = {} }: Scenario): Map<number, number> {
  return new Map(Object.entries(counts).map(([status, count]) => [Number(status), count]));
}

// Returns a scenario that starts the same sandbox without the options: the same object if there are none.
function withOptions(scenario: Scenario, options: StartOptions): Scenario {
  const { seed, now, frozen, profile, openapi } = options;
  const clock = { ...(now !== undefined && { now: isoOf(now) }), ...(frozen !== undefined && { frozen }) };
  const given = {
    ...(seed !== undefined && { seed }),
    ...(Object.keys(clock).length > 0 && { clock: { ...scenario.clock, ...clock } }),
    ...(profile !== undefined && { assumptions: { ...scenario.assumptions, profile } }),
    ...(openapi !== undefined && { openapi }),
  };
  return Object.keys(given).length === 0 ? scenario : ({ ...scenario, ...given } as Scenario);
}

/** A sandbox as plain data, without its options: everything that a client or a person can see, and what clients know. */
export interface SavedSandbox {
  /** When it was described, on the platform's wall clock (epoch milliseconds). */
  readonly at: number;
  readonly name: string;
  readonly text: string | undefined;
  readonly scenario: Scenario;
  /** The state as a scenario; `requests_responded` includes the series, so that no request id repeats. */
  readonly snapshot: Scenario;
  /** Includes the steps that ran, so that the others keep their numbers. */
  readonly timeline: Pick<Timeline, "steps" | "next"> & {
    readonly rejections: readonly (readonly [step: number, code: RejectionCode])[];
  };
  readonly stepsRun: number;
  readonly verdicts: readonly (readonly [step: number, asExpected: boolean])[];
  readonly lastStep: PlayedStep | undefined;
  readonly exchanges: readonly Exchange[];
  readonly recorded: number;
  readonly counts: Counts;
  /** The refs of the keys, in the order of creation. */
  readonly keys: readonly string[];
  /** What clients know, for advice: keys that worked or were replaced by their refs. */
  readonly clients: Readonly<Record<"pages" | "worked" | "replaced", readonly string[]>> & {
    readonly rejected: readonly (readonly [fingerprint: string, path: PathId])[];
  };
}

/** The requests of the journal that a description has. */
const maxDescribed = 100;

/** `responded` is the number of the last request id that its continuation must not use again. Default: the last one used. */
export function describeSandbox(
  sandbox: SandboxState,
  responded = sandbox.requestIds.responded(),
): SavedSandbox {
  const { name, text, scenario, timeline, story, history, behavior, registry } = sandbox;
  const refs = (isMeant: (entry: KeyEntry) => boolean) =>
    [...registry.keys.values()].filter(isMeant).map(({ key }) => key.ref);
  // Read before the clock, so that a restored clock is never late.
  const at = sandbox.platform.time();
  return {
    at,
    name,
    text,
    scenario,
    snapshot: { ...snapshotSandbox(sandbox), requests_responded: responded },
    timeline: { steps: timeline.steps, next: timeline.next, rejections: [...timeline.rejections] },
    stepsRun: story.next,
    verdicts: [...story.verdicts],
    lastStep: story.last,
    exchanges: history.requests({ probes: true, limit: maxDescribed }),
    recorded: history.total(),
    counts: sandbox.counters.read(),
    keys: [...registry.keys.keys()],
    clients: {
      rejected: [...behavior.rejected],
      pages: [...behavior.pages],
      worked: refs((one) => one.hasWorked === true),
      replaced: refs((one) => one.replacement !== undefined),
    },
  };
}

/** Continues what `describeSandbox` returned in a new sandbox; its clock advances unless it is frozen. */
export function restoreSandbox(
  state: SavedSandbox,
  platform: Platform,
  options: Omit<SandboxSettings, "platform">,
): SandboxState {
  const { name, text, scenario, snapshot, stepsRun, verdicts, counts } = state;
  const sandbox = startSandbox(snapshot, { platform, name, text, ...options });
  const { story: steps = [] } = scenario;
  const next = Math.min(stepsRun, steps.length);
  const story: StoryProgress = { steps, next, verdicts: new Map(verdicts), last: state.lastStep };
  const rejections = new Map(state.timeline.rejections);
  replaceState(sandbox, {
    scenario,
    story,
    timeline: { ...sandbox.timeline, ...state.timeline, rejections },
  });
  const { clock } = sandbox;
  sandbox.registry.sort(state.keys);
  restoreClients(sandbox, state.clients);
  sandbox.counters.restore(counts);
  const elapsed = Math.min(platform.time() - state.at, lastClockInstant - clock.now());
  if (!clock.isFrozen() && elapsed > 0) clock.advance(elapsed);
  sandbox.history.enter(state.exchanges, state.recorded);
  return sandbox;
}

function restoreClients({ behavior, registry }: SandboxState, clients: SavedSandbox["clients"]): void {
  for (const rejection of clients.rejected) behavior.rejected.set(...rejection);
  for (const page of clients.pages) behavior.pages.add(page);
  for (const ref of clients.worked) registry.key(ref).hasWorked = true;
  for (const ref of clients.replaced) {
    const entry = registry.key(ref);
    if (entry.key.replacedBy !== undefined) entry.replacement = registry.key(entry.key.replacedBy);
  }
}

type Unknown = ScenarioMistake & { readonly hint: string };

type Named = readonly [name: string | undefined, ...path: Path];

/** The names in a scenario that its sandbox lacks: successes in faults and stories. */
function unknownEndpoints(
  { faults, timeline = [], story = [] }: Scenario,
  endpoints: readonly ServedEndpoint[],
): Unknown[] {
  const steps = Object.entries({ timeline, story }).flatMap(([list, all]) =>
    all.flatMap((step, index) => pathsIn(step.faults, list, index)),
  );
  const expected = story.map(({ expect }, index): Named => [expect?.path, "story", index, "expect", "path"]);
  return unknownPaths([...pathsIn(faults), ...steps, ...expected], endpoints);
}

export function unknownFaultPaths(
  faults: readonly FaultFields[],
  endpoints: readonly ServedEndpoint[],
): Unknown[] {
  return unknownPaths(pathsIn(faults), endpoints);
}

function pathsIn(faults: readonly FaultFields[] = [], ...path: Path): Named[] {
  return faults.map(({ when }, index) => [when?.path_id, ...path, "faults", index, "when", "path_id"]);
}

function unknownPaths(named: readonly Named[], endpoints: readonly ServedEndpoint[]): Unknown[] {
  const others = endpoints.filter(({ responsesContext }) => responsesContext === undefined);
  const successPaths = others.map(({ status = 200, operationId }) => `${status}.${operationId}`);
  const pathIds = [...outcomes.map(({ path }) => path), ...successPaths];
  return named.flatMap(([name, ...path]): Unknown[] => {
    if (name === undefined || pathIds.includes(name)) return [];
    const near = nearest(name, pathIds);
    const hint = near ? `did you mean ${near}?` : "the report of a sandbox lists its endpoints and paths";
    return [{ code: "bad_choice", path, message: `the sandbox has no path ${quote(name)}`, hint }];
  });
}

/** A sandbox that starts from it behaves the same. It has hashes of run-time keys (R35), and no story. */
export function snapshotSandbox(sandbox: SandboxState, now = sandbox.clock.now()): Scenario {
  const { clock, registry } = sandbox;
  // A story starts with its own scenario; the timeline contains only the remaining steps.
  const { story: _story, timeline: _timeline, ...scenario } = sandbox.scenario;
  const timeline = remainingSteps(sandbox.timeline);
  const faults = describeFaults(sandbox.faults);
  const { organizations: _, keys_per_organization: __, ...farmers } = scenario.population ?? {};
  const given = new Map(Array.from(describedKeys(sandbox.scenario), (one) => [one.ref, one.given]));
  const organizations: Record<
    string,
    Required<ScenarioOrganization> & { keys: Record<string, ScenarioKey> }
  > = {};
  for (const { organization } of registry.organizations.values()) {
    const { ref, id } = organization;
    const name = organization.name.slice(0, organization.name.length - nameSuffixOf(sandbox, ref).length);
    organizations[ref] = { name, id, ...writeMembers(organization), keys: {} };
  }
  for (const entry of registry.keys.values()) {
    const { ref, organization } = entry.key;
    const { keys } = organizations[organization] as { keys: Record<string, ScenarioKey> };
    keys[ref] = snapshotKey(entry, given.get(ref), sandbox, now);
  }
  return {
    ...scenario,
    seed: sandbox.seed,
    requests_responded: numberInSeries(sandbox.requestIds.responded()),
    ...(sandbox.varied.size > 0 && { responses_varied: Object.fromEntries(sandbox.varied) }),
    clock: { now: isoOf(now), frozen: clock.isFrozen() },
    // Only explicit assumptions: the others may vary with the profile.
    assumptions: structuredClone({
      ...sandbox.givenAssumptions,
      profile: sandbox.profile,
    } as NonNullable<Scenario["assumptions"]>),
    // A scenario that never had faults needs no empty list.
    ...((faults.length > 0 || scenario.faults !== undefined) && { faults }),
    organizations,
    // The organizations are listed above. The farmers stay the same although the clock starts later.
    population: { ...farmers, as_of: isoOf(sandbox.farmers.start) },
    ...(timeline.length > 0 && { timeline }),
  };
}

function snapshotKey(
  { key, ...entry }: KeyEntry,
  given: ScenarioKey | undefined,
  sandbox: SandboxState,
  now: number,
): ScenarioKey {
  const { windows } = sandbox;
  const usage = usageAt(entry.usage, windows, now);
  const state = keyStateAt(key, now);
  const { since } = keyStateTable[state];
  // A pinned secret stays pinned and the seed restores a derived one; keys created at run time have only a hash.
  const { secret, sha256 }: Pick<ScenarioKey, "secret" | "sha256"> = given ?? { sha256: key.sha256 };
  // The start of the clock is the default.
  const timeOf = (name: keyof KeyEnds) =>
    key[name] === undefined || (name === since && key[name] === now) ? undefined : isoOf(key[name]);
  const written: Record<keyof ScenarioKey, unknown> = {
    environment: key.environment,
    name: key.name,
    scopes: [...withoutGrantedScopes(sandbox, key.scopes)],
    limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay },
    usage: {
      this_minute: usage.minuteCount,
      today: usage.dayCount,
      ...(windows.sliding && { counted_at: usage.recent.map(isoOf) }),
    },
    legacy: key.legacy,
    state: state === "active" ? undefined : state,
    revoked_at: timeOf("revokedAt"),
    expires: timeOf("expiresAt"),
    overlap_ends: timeOf("overlapEndsAt"),
    replaced_by: key.replacedBy,
    secret,
    sha256: secret === undefined ? sha256 : undefined,
  };
  const present = Object.entries(written).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Partial<ScenarioKey> as ScenarioKey;
}
