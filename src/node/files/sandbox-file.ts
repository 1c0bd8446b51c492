import type { Exchange } from "../../sandbox/journal/exchange.js";
import { mostKept } from "../../sandbox/journal/history.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import {
  describeRequests,
  describeSandbox,
  type SavedRequests,
  type SavedSandbox,
} from "../../sandbox/start.js";
import { checkScenario } from "../../scenario/parse-scenario.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { parsedJson } from "../../spec/schema/json.js";
import { isMapping } from "../../spec/schema/shape.js";
import { version } from "../package-files.js";
import { nodePlatform } from "../platform.js";
import { createLineFile } from "./line-file.js";
import { brokenState, orUnwritable, type StatePlace, unreadableState } from "./state-place.js";

// The file of one sandbox. Its first line has everything. A change writes it again. Requests are appended as a line, so that saving
// them costs no more with many keys or a long journal.

export const format = 4;

/** A sandbox as in its file, with what its owner adds. */
export type SandboxInFile<More> = More & {
  readonly version: string;
  /** Its last use, on the wall clock (epoch milliseconds). */
  readonly usedAt: number;
  readonly own: SavedSandbox;
  /** Whether lines can follow: not after a part of a line, or what an editor has formatted. */
  readonly isOpen: boolean;
};

interface Line {
  readonly usedAt: number;
  readonly since: SavedRequests;
}

/** The bytes of lines before the file is written again, or four times those of its first text. */
const mostLines = 256_000;

export type SandboxFile = ReturnType<typeof createSandboxFile>;

interface SandboxFileOptions {
  /** Returns what its owner adds. */
  readonly more: () => object;
  /** Returns the milliseconds since its last use. */
  readonly idle?: () => number;
  /** Whether the file has the state. Default: there is no file. */
  readonly isSaved?: boolean;
  /** Throws if this server may not write. */
  readonly check: () => void;
}

/** Keeps a sandbox in its file. */
export function createSandboxFile(
  { file, given }: StatePlace,
  runtime: SandboxState,
  { more, idle = () => 0, isSaved = false, check }: SandboxFileOptions,
) {
  const lines = createLineFile(file);
  let due: "nothing" | "requests" | "everything" = isSaved ? "nothing" : "everything";
  let isRemoved = false;
  /** The requests that are not in the file. */
  let pending: Exchange[] = [];
  let failure: unknown;

  const requireOwn = () => {
    check();
    if (lines.isForeign()) throw takenOver;
  };
  const write = () => {
    requireOwn();
    if (isRemoved) return lines.remove();
    const usedAt = Math.round(nodePlatform.time() - idle());
    const { first, rest } = lines.sizes();
    const line = () =>
      `${JSON.stringify({ usedAt, since: describeRequests(runtime, pending) } satisfies Line)}\n`;
    const isAppended = due === "requests" && rest <= Math.max(4 * first, mostLines) && lines.append(line());
    if (!isAppended) {
      const all = { svc_sandbox_state: format, version, usedAt, ...more(), own: describeSandbox(runtime) };
      lines.replace(`${JSON.stringify(all)}\n`, requireOwn);
    }
    pending = [];
    due = "nothing";
  };
  return {
    runtime,
    addRequest(exchange: Exchange): void {
      pending.push(exchange);
      if (pending.length > mostKept) pending.shift();
    },
    /** Makes the next save write requests and the last use, or everything. */
    mark(what: "requests" | "everything"): void {
      if (due !== "everything") due = what;
    },
    /** Makes the next save remove the file. */
    end(): void {
      isRemoved = true;
      due = "everything";
    },
    isDue: () => due !== "nothing",
    isForeign: lines.isForeign,
    sizes: lines.sizes,
    /** Why the last save failed. */
    failure: () => failure,
    /** Writes what is due. Throws `state_unwritable`. */
    save(): void {
      try {
        orUnwritable(given, write);
        failure = undefined;
      } catch (error) {
        failure = (error as Error).cause;
        throw error;
      }
    },
  };
}

/** The lock does not protect from other containers that mount the volume. */
export const takenOver = new Error("another program has written it, such as a server in another container");

/**
 * Parses the file of a sandbox; `given` is its name for messages. A last line without its end was never complete. Throws
 * `state_unreadable`. Restoring the state detects remaining contradictions.
 */
export function parseSandboxFile<More>(text: string, given: string, isInstance = false): SandboxInFile<More> {
  const [start = "", ...rest] = text.split("\n");
  const line = parsedJson(start);
  // An editor may have formatted it.
  const first = line ?? parsedJson(text);
  requireFormat(first, format, given, isInstance);
  try {
    const lines = line === undefined ? [] : rest.slice(0, -1).map((one): Line => JSON.parse(one));
    const state = lines.reduce(addLine, first as SandboxInFile<More>);
    const { scenario, snapshot } = state.own;
    if (snapshot.clock?.now === undefined) throw brokenState(given);
    const isOpen = line !== undefined && text.endsWith("\n");
    return {
      ...{ ...state, isOpen },
      own: { ...state.own, scenario: shared(scenario), snapshot: checkedScenario(snapshot) },
    };
  } catch {
    throw brokenState(given, isInstance);
  }
}

function addLine<More>(state: SandboxInFile<More>, { usedAt, since }: Line): SandboxInFile<More> {
  const { usage = {}, exchanges = [] } = state.own.since ?? {};
  const all = { usage: { ...usage, ...since.usage }, exchanges: [...exchanges, ...since.exchanges] };
  return { ...state, usedAt, own: { ...state.own, since: { ...since, ...all } } };
}

/** Throws `state_unreadable` for another format. */
export function requireFormat(state: unknown, expected: number, given: string, isInstance = false) {
  if (!isMapping(state) || state.svc_sandbox_state === undefined) {
    throw unreadableState(given, "it is not a state of svc-sandbox, or only a part", isInstance);
  }
  const { svc_sandbox_state: found, version: by } = state;
  if (found === expected) return state;
  const why = `it has format ${JSON.stringify(found)} of svc-sandbox ${JSON.stringify(by)}, and svc-sandbox ${version} reads format ${expected} here`;
  throw unreadableState(given, why, isInstance);
}

/** A sandbox grows with every new key. Every written state must be readable. */
export function checkedScenario(scenario: unknown): Scenario {
  return checkScenario(scenario, { mostValues: Number.POSITIVE_INFINITY });
}

const latest = { text: "", scenario: {} as Scenario };

// Instances of one scenario share it, and its records. The last one is nearly always the next one.
function shared(scenario: Scenario): Scenario {
  const text = JSON.stringify(scenario);
  if (latest.text !== text) Object.assign(latest, { text, scenario: checkedScenario(scenario) });
  return latest.scenario;
}
