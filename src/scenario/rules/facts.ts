import { type Assumptions, assumptionsFor } from "../../spec/assumptions.js";
import { effectsByRank, type FaultKind, faultEffects } from "../../spec/fault-effects.js";
import { outcomeOf } from "../../spec/outcomes.js";
import type { Path } from "../../spec/schema/shape.js";
import { type KnownRefs, knownRefsHint, quote } from "../../spec/schema/words.js";
import { isReserved, parseDuration, parseTime } from "../format/fields.js";
import { isPopulated, type ScenarioKey, type ScenarioOrganization } from "../population.js";
import type { ScenarioMistake, ScenarioProblemCode } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";

/** A key of a scenario, with its fields as written. */
export interface KeyFacts {
  readonly ref: string;
  readonly organization: string;
  readonly path: Path;
  readonly fields: ScenarioKey;
}

/** A scenario of the right shape, prepared for the rules. */
export interface Facts {
  readonly scenario: Scenario;
  readonly organizations: ReadonlyMap<string, ScenarioOrganization>;
  readonly keys: readonly KeyFacts[];
  /** The first key with each ref. */
  readonly keyOf: ReadonlyMap<string, KeyFacts>;
  readonly assumptions: Assumptions;
  /** The refs of keys and organizations, including the population's. */
  readonly refs: Readonly<Record<RefKind, KnownRefs>>;
  /** Milliseconds from the clock's start to a time or duration; `undefined` if that depends on the real time. */
  readonly fromStart: (text: string | undefined) => number | undefined;
  readonly wrong: Wrong;
}

type RefKind = "key" | "organization";

/** Reports a problem of a field; points at its value by default. */
export type Wrong = (
  code: ScenarioProblemCode,
  path: Path,
  message: string,
  hint: string,
  pointAt?: "key" | "value",
) => void;

export type ScenarioRule = (facts: Facts) => void;

export function factsOf(scenario: Scenario, report: (diagnostic: ScenarioMistake) => void): Facts {
  const { population, clock } = scenario;
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...organizations].flatMap(([organization, { keys = {} }]) =>
    Object.entries(keys).map(([ref, fields]) => {
      return { ref, organization, path: ["organizations", organization, "keys", ref], fields };
    }),
  );
  const keyOf = new Map<string, KeyFacts>();
  for (const key of keys) if (!keyOf.has(key.ref)) keyOf.set(key.ref, key);
  const { profile = "minimal", ...given } = scenario.assumptions ?? {};
  return {
    scenario,
    organizations,
    keys,
    keyOf,
    assumptions: assumptionsFor(profile, given),
    refs: { key: knownIn(keyOf, true), organization: knownIn(organizations, false) },
    fromStart: (text) => timeSince(clock?.now, text),
    wrong: (code, path, message, hint, pointAt = "value") => report({ code, path, message, hint, pointAt }),
  };

  function knownIn(map: ReadonlyMap<string, unknown>, areKeys: boolean): KnownRefs {
    const has = (ref: string) =>
      map.has(ref) || (ref.includes("-key-") === areKeys && isPopulated(ref, population));
    return { size: map.size, keys: () => map.keys(), has };
  }
}

/**
 * Milliseconds from a start to a time or duration; `undefined` if that depends on the real time, which is the start of a
 * clock without `now`.
 */
function timeSince(start: string | undefined, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  if (duration !== undefined || start === undefined) return duration;
  return (parseTime(text) ?? 0) - (parseTime(start) ?? 0);
}

/** Each organization and key has a unique ref. */
const refsAreFree: ScenarioRule = ({ scenario, organizations, keys, keyOf, wrong }) => {
  const { population } = scenario;
  if (organizations.size === 0 && (population?.organizations ?? 0) === 0) {
    const hint = "add one: organizations: { harvest-bank: { type: bank } }";
    wrong("no_organizations", ["organizations"], "the scenario has no organization", hint, "key");
  }
  const isTaken = (ref: string, path: Path) => {
    if (!isPopulated(ref, population)) return;
    const hint = "choose another one: the population uses organization-1, organization-1-key-1 and so on";
    wrong("taken_by_population", path, `the population has the ref ${quote(ref)}`, hint, "key");
  };
  for (const ref of organizations.keys()) isTaken(ref, ["organizations", ref]);
  for (const key of keys) {
    const { ref, path } = key;
    isTaken(ref, path);
    if (isReserved(ref)) {
      const message = `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`;
      wrong("reserved_key_ref", path, message, `call it ${ref}-key`, "key");
    }
    const first = keyOf.get(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const hint = "refs of keys are unique in the whole scenario: choose another one";
    wrong("duplicate_key_ref", path, message, hint, "key");
  }
};

/** The default key and each replacement exist. */
const refsExist: ScenarioRule = (facts) => {
  checkRef("key", facts.scenario.default_key, ["default_key"], facts);
  for (const { path, fields } of facts.keys) {
    checkRef("key", fields.replaced_by, [...path, "replaced_by"], facts);
  }
};

export function checkRef(
  kind: RefKind,
  ref: string | undefined,
  path: Path,
  { refs, wrong }: Pick<Facts, "refs" | "wrong">,
): void {
  if (ref === undefined || refs[kind].has(ref)) return;
  const hint = knownRefsHint(ref, refs[kind], `${kind}s`);
  wrong(`unknown_${kind}_ref`, path, `there is no ${kind} ${quote(ref)}`, hint);
}

export const refRules: readonly ScenarioRule[] = [refsAreFree, refsExist];

export type FaultFields = NonNullable<Scenario["faults"]>[number];

export interface FaultWorld {
  readonly refs: Facts["refs"];
  readonly preview: boolean;
  /** The start of durations, in ISO 8601. */
  readonly now?: string | undefined;
}

/** Every fault, also in the timeline and the story, is consistent and fits the scenario. */
export const faultsFit: ScenarioRule = (facts) => {
  const { scenario, refs, wrong } = facts;
  const { preview = false, clock, timeline = [], story = [] } = scenario;
  const world = { refs, preview, now: clock?.now, wrong };
  checkFaults(scenario.faults, [], world);
  // `rules/steps.ts` checks the keys, because steps may create them.
  const inSteps = { ...world, refs: { ...refs, key: { ...refs.key, has: () => true } } };
  for (const [index, { faults }] of timeline.entries()) checkFaults(faults, ["timeline", index], inSteps);
  for (const [index, { faults }] of story.entries()) checkFaults(faults, ["story", index], inSteps);
};

/** Returns the problems of well-shaped faults in a sandbox. */
export function faultProblems(faults: readonly FaultFields[], world: FaultWorld): ScenarioMistake[] {
  const found: ScenarioMistake[] = [];
  const wrong: Wrong = (code, path, message, hint) => found.push({ code, path, message, hint });
  checkFaults(faults, [], { ...world, wrong });
  return found;
}

type Checking = FaultWorld & Pick<Facts, "wrong">;

function checkFaults(faults: readonly FaultFields[] = [], path: Path, checking: Checking): void {
  for (const [index, fault] of faults.entries()) {
    const at = [...path, "faults", index];
    checkRef("key", fault.when?.key, [...at, "when", "key"], checking);
    checkRef("organization", fault.when?.organization, [...at, "when", "organization"], checking);
    checkFault(fault, at, checking);
  }
}

type Effect = FaultKind | "body";

// The body belongs to a status.
function fitTogether(one: Effect, other: Effect): boolean {
  if (one === "body") return other === "status" || fitTogether("status", other);
  if (other === "body") return fitTogether(other, one);
  return (faultEffects[one].fits as readonly string[]).includes(other);
}

function checkFault(
  { when = {}, then = {} }: FaultFields,
  path: Path,
  { preview, now, wrong }: Checking,
): void {
  const contradiction = (at: Path, message: string, hint: string) =>
    wrong("fault_contradiction", [...path, ...at], message, hint);
  const { path_id: pathId, after, until } = when;
  if (pathId !== undefined && !preview && outcomeOf(pathId).preview === true) {
    const message = `${quote(pathId)} needs the preview of the announced endpoints`;
    wrong("preview_off", [...path, "when", "path_id"], message, "write preview: true at the top level");
  }
  const [from, end] = [timeSince(now, after), timeSince(now, until)];
  if (from !== undefined && end !== undefined && end <= from) {
    const message = `the fault must end after it starts (${after}), not ${until}`;
    contradiction(["when", "until"], message, "write a later time, or remove one of the two");
  }
  const { latency } = then;
  if (typeof latency === "object" && (parseDuration(latency.min) ?? 0) > (parseDuration(latency.max) ?? 0)) {
    const message = `max is ${latency.max}, less than min, which is ${latency.min}`;
    contradiction(["then", "latency", "max"], message, "swap the two");
  }
  const chosen = effectsByRank.filter((name) => then[name] !== undefined && then[name] !== false);
  const all: readonly Effect[] = then.body === undefined ? chosen : [...chosen, "body"];
  for (const [index, second] of all.entries()) {
    const first = all.slice(0, index).find((one) => !fitTogether(one, second));
    if (first === undefined) continue;
    const message = `a response cannot have both ${first} and ${second}`;
    contradiction(["then", second], message, "remove one of the two, or add a second fault");
    return;
  }
}
