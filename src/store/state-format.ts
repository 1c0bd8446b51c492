import { version } from "../node/package-files.js";
import { nodePlatform } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { parsedJson } from "../rules/schema/json.js";
import { isMapping } from "../rules/schema/shape.js";
import type { Line } from "../sandbox/line.js";
import type { SavedSandbox } from "../sandbox/start.js";
import { checkScenario, type NamedScenario } from "../scenario/parse-scenario.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { InstanceState, ServerState } from "./instances.js";
import { contentHashOf, originOf, requireSame } from "./origin.js";

// The one format of a state: an export, the file of a server's own sandbox, and the file of an instance. Its first line has
// everything, each scenario once. A file may have lines of requests after it. Each line ends with a checksum of it and of the
// line before, so that only a cut last line is taken for a kill.

/** The number of the format. A later one is converted in `converted`. */
export const stateFormat = 1;

export interface SavedState extends ServerState {
  /** The scenario that the server started with; another may have been loaded later. */
  readonly startedWith: ScenarioIdentity;
  /** The version that wrote it. Default: this one. */
  readonly version?: string;
}

export interface ScenarioIdentity {
  readonly name: string;
  /** The hash of its content: the same for a moved file, different for an edited file. */
  readonly sha256: string;
}

export function identityOf({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: contentHashOf({ scenario }) };
}

type WrittenSandbox = Omit<SavedSandbox, "scenario" | "text"> & { readonly scenario: string };

interface WrittenState {
  readonly version: string;
  readonly started_with?: ScenarioIdentity;
  readonly scenarios: Readonly<Record<string, Pick<SavedSandbox, "scenario" | "text">>>;
  readonly own?: WrittenSandbox;
  readonly instances: readonly (Omit<InstanceState, "sandbox"> & { readonly sandbox: WrittenSandbox })[];
}

/** What has happened since the line before, and the last use of an instance. */
interface WrittenLine {
  readonly usedAt?: number | undefined;
  readonly line: Line;
}

export interface SignedLine {
  readonly text: string;
  readonly sum: string;
}

/** Returns a line with a checksum, which continues that of the line before. */
export function signedLine(content: object, before = ""): SignedLine {
  const text = JSON.stringify(content);
  const sum = sumOf(text, before);
  return { text: `${text.slice(0, -1)},"sum":"${sum}"}\n`, sum };
}

const sumOf = (text: string, before: string) => nodePlatform.sha256(before + text).slice(0, 16);

/** The members of a signed line. Throws if it is damaged; spaces do not matter. */
function readSigned(line: unknown, before = ""): SignedLine & { readonly content: object } {
  const { sum, ...content } = line as { readonly sum: string };
  const text = JSON.stringify(content);
  if (sum !== sumOf(text, before)) throw new Error("damaged");
  return { text, sum, content };
}

/**
 * Serializes a server with its instances, or without its own sandbox the file of an instance. The text contains no full keys except
 * a scenario's pinned keys (R35).
 */
export function stateLine({ startedWith, own, instances, ...about }: Partial<SavedState>): SignedLine {
  const scenarios: Record<string, unknown> = {};
  const written = ({ text, scenario, ...state }: SavedSandbox): WrittenSandbox => {
    const id = contentHashOf({ scenario }).slice(0, 16);
    scenarios[id] ??= { scenario, text };
    return { ...state, scenario: id };
  };
  const sandboxes = {
    own: own && written(own),
    instances: (instances ?? []).map((one) => ({ ...one, sandbox: written(one.sandbox) })),
  };
  const { without = [] } = about;
  const lacks = without.length > 0 && { without };
  const header = { svc_sandbox_state: stateFormat, version, started_with: startedWith, ...lacks };
  return signedLine({ ...header, scenarios, ...sandboxes });
}

/** Scenarios that were read before, by the hash of their content: the instances of one share it, and its records. */
export type KnownScenarios = Map<string, Scenario>;

/** A state as read: the file of an instance has no sandbox of a server. */
export interface ReadState extends Pick<SavedState, "instances" | "version"> {
  readonly startedWith: ScenarioIdentity | undefined;
  readonly own: SavedSandbox | undefined;
}

/**
 * Parses a state; `given` is its name for messages. A last line without its end was never complete. Throws `state_unreadable`.
 * Restoring the state detects remaining contradictions.
 */
export function parseState(
  text: string,
  given: string,
  { isInstance = false, known = new Map() }: { isInstance?: boolean; known?: KnownScenarios } = {},
): ReadState {
  const [start = "", ...rest] = text.split("\n");
  const first = parsedJson(start);
  requireState(first, given, isInstance);
  try {
    const { sum, content } = readSigned(first);
    const found = converted(content);
    const stateOf = (sandbox: WrittenSandbox): SavedSandbox => {
      const { scenario, text: source } = found.scenarios[
        sandbox.scenario
      ] as (typeof found.scenarios)[string];
      if (!known.has(sandbox.scenario)) known.set(sandbox.scenario, checkedScenario(scenario));
      const snapshot = checkedScenario(sandbox.snapshot);
      if (snapshot.clock?.now === undefined) throw brokenState(given);
      return { ...sandbox, text: source, scenario: known.get(sandbox.scenario) as Scenario, snapshot };
    };
    const state = {
      version: found.version,
      startedWith: found.started_with,
      own: found.own && stateOf(found.own),
      instances: found.instances.map((one) => ({ ...one, sandbox: stateOf(one.sandbox) })),
    };
    return withLines(state, linesOf(rest, sum));
  } catch {
    throw brokenState(given, isInstance);
  }
}

/** Returns the content of a state in this format. The only place that knows an earlier one. */
function converted(content: object): WrittenState {
  return content as WrittenState;
}

function linesOf(texts: readonly string[], first: string): WrittenLine[] {
  let sum = first;
  return texts.slice(0, -1).map((text) => {
    const { content, ...signed } = readSigned(JSON.parse(text), sum);
    sum = signed.sum;
    return content as WrittenLine;
  });
}

function withLines(state: ReadState, lines: readonly WrittenLine[]): ReadState {
  const last = lines.at(-1);
  if (last === undefined) return state;
  const all = lines.map(({ line }) => line);
  if (state.own !== undefined) return { ...state, own: { ...state.own, lines: all } };
  const [one] = state.instances as [InstanceState];
  const { usedAt = one.usedAt } = last;
  return { ...state, instances: [{ ...one, usedAt, sandbox: { ...one.sandbox, lines: all } }] };
}

function requireState(state: unknown, given: string, isInstance: boolean): void {
  if (!isMapping(state) || state.svc_sandbox_state === undefined) {
    throw unreadableState(given, "it is not a state of svc-sandbox, or only a part", isInstance);
  }
  const { svc_sandbox_state: found, version: by } = state;
  if (found === stateFormat) return;
  const why = `it has format ${JSON.stringify(found)} of svc-sandbox ${JSON.stringify(by)}, and svc-sandbox ${version} reads format ${stateFormat}`;
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

/** When it was saved, on the wall clock (epoch milliseconds). */
export const savedAt = ({ lines, at }: SavedSandbox) => (lines?.at(-1) ?? { at }).at;

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
