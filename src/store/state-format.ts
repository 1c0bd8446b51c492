import { version } from "../node/package-files.js";
import { nodePlatform } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { parsedJson } from "../rules/schema/json.js";
import { isMapping } from "../rules/schema/shape.js";
import { listed } from "../rules/schema/words.js";
import type { SavedSandbox } from "../sandbox/start.js";
import { checkScenario, type NamedScenario } from "../scenario/parse-scenario.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { InstanceState, ServerState } from "./instances.js";

// The one format of a state, in every place: an export, the server's own sandbox, and an instance. It is one text, written whole:
// each scenario once, and a checksum of all of it at its end.

/** The number of the format. `test/store/format.slow.test.ts` fails if the form changes, and this number does not. */
export const stateFormat = 4;

export interface SavedState extends ServerState {
  /** The scenario that the server started with; another may have been loaded later. */
  readonly startedWith: ScenarioIdentity;
  /** The version that wrote it. Default: this one. */
  readonly version?: string;
}

interface ScenarioIdentity {
  readonly name: string;
  /** The hash of its content: the same for a moved file, different for an edited file. */
  readonly sha256: string;
}

export function identityOf({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: contentHashOf({ scenario }) };
}

type Mapping = Readonly<Record<string, unknown>>;

interface WrittenSandbox extends Omit<SavedSandbox, "scenario" | "text" | "first"> {
  readonly scenario: string;
  readonly first?: { readonly name: string; readonly scenario: string } | undefined;
}

interface WrittenState {
  readonly version: string;
  readonly started_with?: ScenarioIdentity;
  readonly scenarios: Readonly<Record<string, Pick<SavedSandbox, "scenario" | "text">>>;
  readonly own?: WrittenSandbox;
  readonly instances: readonly (Omit<InstanceState, "sandbox"> & { readonly sandbox: WrittenSandbox })[];
}

/** Returns a text with a checksum at its end. */
export function signedText(content: object): string {
  const text = JSON.stringify(content);
  return `${text.slice(0, -1)},"sum":"${sumOf(text)}"}\n`;
}

const sumOf = (text: string) => nodePlatform.sha256(text).slice(0, 16);

/** Throws if a member is missing or damaged; spaces do not matter. */
function requireWhole({ sum, ...content }: Mapping): void {
  if (sum !== sumOf(JSON.stringify(content))) throw new Error("damaged");
}

/**
 * Serializes a server with its instances, or without its own sandbox the file of an instance. The text contains no full keys except
 * a scenario's pinned keys (R35).
 */
export function stateText({ startedWith, own, instances, ...about }: Partial<SavedState>): string {
  const scenarios: Record<string, unknown> = {};
  const idOf = ({ text, scenario }: Pick<SavedSandbox, "scenario" | "text">) => {
    const id = contentHashOf({ scenario }).slice(0, 16);
    scenarios[id] ??= { scenario, text };
    return id;
  };
  const written = ({ text, scenario, first, ...state }: SavedSandbox): WrittenSandbox => ({
    ...state,
    scenario: idOf({ scenario, text }),
    ...(first && { first: { name: first.name, scenario: idOf(first) } }),
  });
  const sandboxes = {
    own: own && written(own),
    instances: (instances ?? []).map((one) => ({ ...one, sandbox: written(one.sandbox) })),
  };
  const { without = [] } = about;
  const lacks = without.length > 0 && { without };
  const header = { svc_sandbox_state: stateFormat, version, started_with: startedWith, ...lacks };
  return signedText({ ...header, scenarios, ...sandboxes });
}

/** Scenarios that were read before, by the hash of their content: the instances of one share it, and its records. */
export type KnownScenarios = Map<string, Scenario>;

/** A state as read: the file of an instance has no sandbox of a server. */
interface ReadState extends Pick<SavedState, "instances" | "version"> {
  readonly startedWith: ScenarioIdentity | undefined;
  readonly own: SavedSandbox | undefined;
}

/**
 * Parses a state; `given` is its name for messages. Throws `state_unreadable`. Restoring the state detects remaining
 * contradictions.
 */
export function parseState(
  text: string,
  given: string,
  { isInstance = false, known = new Map() }: { isInstance?: boolean; known?: KnownScenarios } = {},
): ReadState {
  const content = parsedJson(text);
  requireState(content, given, isInstance);
  try {
    requireWhole(content);
    // What has its checksum was written by this program.
    const state = content as unknown as WrittenState;
    const { started_with: startedWith, own, instances, scenarios } = state;
    const scenarioOf = (id: string) => {
      const { scenario, text: source } = scenarios[id] as (typeof scenarios)[string];
      if (!known.has(id)) known.set(id, checkedScenario(scenario));
      return { scenario: known.get(id) as Scenario, text: source };
    };
    const stateOf = ({ first, ...sandbox }: WrittenSandbox): SavedSandbox => {
      const snapshot = checkedScenario(sandbox.snapshot);
      if (snapshot.clock?.now === undefined) throw brokenState(given);
      const before = first && { first: { name: first.name, ...scenarioOf(first.scenario) } };
      return { ...sandbox, ...scenarioOf(sandbox.scenario), ...before, snapshot };
    };
    return {
      version: state.version,
      startedWith,
      own: own && stateOf(own),
      instances: instances.map((one) => ({ ...one, sandbox: stateOf(one.sandbox) })),
    };
  } catch {
    throw brokenState(given, isInstance);
  }
}

function requireState(state: unknown, given: string, isInstance: boolean): asserts state is Mapping {
  if (!isMapping(state) || state.svc_sandbox_state === undefined) {
    throw unreadableState(given, "it is not a state of svc-sandbox, or only a part", isInstance);
  }
  const { svc_sandbox_state: format, version: by } = state;
  if (format === stateFormat) return;
  const why = `it has format ${JSON.stringify(format)} of svc-sandbox ${JSON.stringify(by)}, and svc-sandbox ${version} reads format ${stateFormat}. To continue it, start the version that wrote it`;
  throw unreadableState(given, why, isInstance);
}

/** A sandbox grows with every new key. Every written state must be readable. */
function checkedScenario(scenario: unknown): Scenario {
  return checkScenario(scenario, { maxValues: Number.POSITIVE_INFINITY });
}

export function brokenState(given: string, isInstance = false): SandboxError {
  return unreadableState(given, "a part of it is missing or damaged", isInstance);
}

export function unreadableState(given: string, why: string, isInstance = false): SandboxError {
  const whatToDo = isInstance
    ? "Whoever runs this server must put a copy of the file back and restart it, or remove the instance"
    : "Name another file, or remove this one to start again";
  const message = `Failed to continue from the state ${JSON.stringify(given)}: ${why}. ${whatToDo}.`;
  return new SandboxError("state_unreadable", message);
}

/** Returns a state as of the current scenario's name. Throws `state_mismatch` if another scenario started it. */
export function continueState(saved: ReadState, served: NamedScenario, given: string): SavedState {
  const { startedWith, own } = saved;
  if (startedWith === undefined || own === undefined) throw brokenState(given);
  const ours = identityOf(served);
  const stored = {
    code: "state_mismatch",
    what: `The state ${JSON.stringify(given)}`,
    elsewhere: "name another file, or remove this one to start again",
  } as const;
  requireSame(stored, originOf(startedWith), originOf(ours));
  // A moved scenario file gets its new name; a scenario that was loaded later keeps its own.
  const moved = own.name === startedWith.name ? { name: served.name } : {};
  return { ...saved, startedWith: ours, own: { ...own, ...moved } };
}

/** Returns a group of request ids that no other start is likely to have, with room for a million instances after it. */
export function newIdGroup(): number {
  return (1 + (nodePlatform.random() % 2 ** 31)) * 2 ** 20;
}

/** The id of the server's own text; instances have longer ids. */
export const ownId = "own";

/** Where texts are, each under an id: a folder of files, or Redis. Each text is written whole, or stays as it was. */
export interface Place {
  /** The name of a text for messages, such as its file. */
  readonly nameOf: (id: string) => string;
  /** Resolves to `undefined` if there is no such text. */
  readonly read: (id: string) => Promise<string | undefined>;
  /** Resolves once a killed process would not lose it. */
  readonly write: (id: string, text: string) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  /** What a caller gets whose change failed to be written. */
  readonly failureOf: (id: string, error: unknown) => SandboxError;
}

/** What a stored sandbox was started with. Members are named like the flags, for messages about a difference. */
type Origin = Readonly<Record<string, unknown>>;

/** The member with the hash of the scenario's content, which is the same for a moved file. */
const content = "content of the scenario";

const hashes = new WeakMap<object, string>();

function contentHashOf({ scenario }: Pick<NamedScenario, "scenario">): string {
  const hash = hashes.get(scenario) ?? nodePlatform.sha256(JSON.stringify(scenario));
  hashes.set(scenario, hash);
  return hash;
}

/** Returns the origin of a scenario, with other options that must stay. */
export function originOf(
  { name, sha256 }: { readonly name: string; readonly sha256: string },
  others: Origin = {},
): Origin {
  return { scenario: name, [content]: sha256.slice(0, 12), ...others };
}

type Stored = Readonly<Record<"what" | "elsewhere", string>> & {
  readonly code: "state_mismatch" | "store_mismatch";
};

/** Throws if a sandbox was started with another scenario or other options. The name of the same scenario may change. */
export function requireSame({ code, what, elsewhere }: Stored, theirs: Origin, ours: Origin): void {
  const names = differencesOf(theirs, ours);
  if (names.every((name) => name === "scenario")) return;
  throw new SandboxError(
    code,
    `${what} was started with ${shownIn(theirs, names)}, and this one has ${shownIn(ours, names)}. Start this one with the same, or ${elsewhere}.`,
    { stored: theirs, own: ours },
  );
}

function shownIn(members: Origin, names: readonly string[]): string {
  const memberTexts = names.map(
    (name) => `${name} ${name in members ? JSON.stringify(members[name]) : "(none)"}`,
  );
  return listed(memberTexts, "and");
}

export function sandboxExists(what: string, elsewhere: string): SandboxError {
  return new SandboxError(
    "sandbox_exists",
    `${what} already contains a sandbox, and --import does not replace it. Start without --import, or ${elsewhere}.`,
  );
}

function differencesOf(theirs: Origin, ours: Origin): string[] {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].filter((name) => JSON.stringify(theirs[name]) !== JSON.stringify(ours[name]));
}
