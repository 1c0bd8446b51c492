import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import { mostKept } from "../../sandbox/journal/history.js";
import type { RecordChange } from "../../sandbox/record.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import {
  describeRequests,
  describeSandbox,
  type SavedRequests,
  type SavedSandbox,
} from "../../sandbox/start.js";
import { checkScenario } from "../../scenario/parse-scenario.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { SandboxError } from "../../spec/errors.js";
import { parsedJson } from "../../spec/schema/json.js";
import { isMapping } from "../../spec/schema/shape.js";
import { version } from "../package-files.js";
import { nodePlatform } from "../platform.js";
import { draftEnding, fileFailure, writeFileAtomically } from "./write-file.js";

// The file of one sandbox. Its first line has everything. A change writes it again. Requests are appended as a line, so that saving
// them costs no more with many keys or a long journal.

const format = 4;

/** A sandbox as in its file, with what its owner adds. */
export type SandboxInFile<More> = More & {
  readonly version: string;
  /** Its last use, on the wall clock (epoch milliseconds). */
  readonly usedAt: number;
  readonly own: SavedSandbox;
};

interface Line {
  readonly usedAt: number;
  readonly since: SavedRequests;
}

/** The bytes of lines before the file is written again, or four times those of its first line. */
const mostLines = 256_000;

/** What a save writes: requests and the last use, or everything; or it removes the file. */
export type Unsaved = "requests" | "everything" | "removal";

export type SandboxFile = ReturnType<typeof createSandboxFile>;

interface SandboxFileOptions {
  /** Returns what its owner adds. */
  readonly more: () => object;
  /** Returns the milliseconds since its last use. */
  readonly idle?: () => number;
  /** Throws if this server may not write. */
  readonly check?: () => void;
}

/** Keeps a sandbox in its file, which only this process writes and only its owner can read. */
export function createSandboxFile(
  { file, given }: StatePlace,
  runtime: SandboxState,
  { more, idle = () => 0, check = () => {} }: SandboxFileOptions,
) {
  /** What the file system showed after the last write, and the bytes of the first line that this process has written. */
  let known = shownOf(file);
  let first: number | undefined;
  /** The requests that are not in the file. */
  let pending: Exchange[] = [];
  /** The changes of records that are not in the file. */
  let changes: RecordChange[] = [];
  const isForeign = () => {
    const found = shownOf(file);
    return found !== undefined && found.text !== known?.text;
  };
  const requireOwn = () => {
    check();
    if (isForeign()) throw takenOver;
  };
  const sizes = () => ({ all: known?.size ?? 0, rest: (known?.size ?? 0) - (first ?? 0) });
  const replace = (usedAt: number) => {
    const all = { svc_sandbox_state: format, version, usedAt, ...more(), own: describeSandbox(runtime) };
    writeFileAtomically(file, `${JSON.stringify(all)}\n`, 0o600, requireOwn);
    known = shownOf(file);
    first = known?.size;
  };
  const append = (line: Line, size: number) => {
    const descriptor = openSync(file, O_WRONLY | O_APPEND);
    try {
      writeFileSync(descriptor, `${JSON.stringify(line)}\n`);
    } catch (error) {
      // A full disk may have taken a part.
      ftruncateSync(descriptor, size);
      throw error;
    } finally {
      closeSync(descriptor);
      known = shownOf(file);
    }
  };
  return {
    runtime,
    addRequest(exchange: Exchange): void {
      pending.push(exchange);
      if (pending.length > mostKept) pending.shift();
    },
    addChange(change: RecordChange): void {
      changes.push(change);
    },
    /** Whether another program has written the file since the last write. */
    isForeign,
    /** The bytes of the file, and of the lines after the first one. */
    sizes,
    /** Throws `state_unwritable`, and leaves the file unchanged then. */
    save(what: Unsaved): void {
      orUnwritable(given, () => {
        requireOwn();
        if (what === "removal") return rmSync(file, { force: true });
        const usedAt = Math.round(nodePlatform.time() - idle());
        const { all, rest } = sizes();
        // The last line of an earlier process may be cut.
        const canAppend = first !== undefined && rest <= Math.max(4 * first, mostLines) && shownOf(file);
        if (what === "requests" && canAppend)
          append({ usedAt, since: describeRequests(runtime, pending, changes) }, all);
        else replace(usedAt);
        [pending, changes] = [[], []];
      });
    },
  };
}

const { O_WRONLY, O_APPEND } = constants;

function shownOf(file: string) {
  const { ino, size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return ino === undefined || size === undefined ? undefined : { size, text: `${ino} ${size} ${mtimeMs}` };
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
    const state = withLines(first as SandboxInFile<More>, lines);
    const { scenario, snapshot } = state.own;
    if (snapshot.clock?.now === undefined) throw brokenState(given);
    const own = { ...state.own, scenario: shared(scenario), snapshot: checkedScenario(snapshot) };
    return { ...state, own };
  } catch {
    throw brokenState(given, isInstance);
  }
}

function withLines<More>(state: SandboxInFile<More>, lines: readonly Line[]): SandboxInFile<More> {
  const last = lines.at(-1);
  if (last === undefined) return state;
  const all = lines.map(({ since }) => since);
  const since = {
    ...last.since,
    usage: Object.assign({}, ...all.map(({ usage }) => usage)),
    exchanges: all.flatMap(({ exchanges }) => exchanges),
    records: all.flatMap(({ records = [] }) => records),
  };
  return { ...state, usedAt: last.usedAt, own: { ...state.own, since } };
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

/** A file of a saved state: its absolute path, and the given path for messages. */
export interface StatePlace {
  readonly file: string;
  readonly given: string;
}

export const folderOf = (file: string) => `${file}.instances`;

export function instancePlace({ file, given }: StatePlace, id: string): StatePlace {
  return { file: join(folderOf(file), `${id}.json`), given: `${folderOf(given)}/${id}.json` };
}

/** Returns the ids of the instances that have a file, and removes what a killed process has left. */
export function readFolder({ file, given }: StatePlace): string[] {
  const folder = folderOf(file);
  return orUnreadable(folderOf(given), () => {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
    const names = readdirSync(folder);
    for (const name of names.filter((one) => one.endsWith(draftEnding))) {
      try {
        rmSync(join(folder, name));
      } catch {
        // The disk may be read-only.
      }
    }
    return names.flatMap((name) => /^(\w+)\.json$/.exec(name)?.[1] ?? []);
  });
}

export function readState({ file, given }: StatePlace): string | undefined {
  return orUnreadable(given, () => {
    const found = statSync(file, { throwIfNoEntry: false });
    // Reading a pipe would wait for a writer.
    if (found?.isFile() === false) throw new Error("it is not a regular file");
    return found && readFileSync(file, "utf8");
  });
}

/** Backs up the state before a migration in a separate file, and returns the file's name. */
export function backUp({ file, given }: StatePlace, text: string, version = ""): string {
  const copy = `.backup-${version}`;
  orUnwritable(given + copy, () => writeFileAtomically(file + copy, text, 0o600));
  return given + copy;
}

export function brokenState(given: string, isInstance = false): SandboxError {
  return unreadableState(given, "one of its members is missing or damaged", isInstance);
}

export function unreadableState(given: string, why: string, isInstance = false): SandboxError {
  const whatToDo = isInstance
    ? "Whoever runs this server must put a copy of the file back and restart it, or remove the instance"
    : "Name another file, or remove this one to start again";
  const message = `Failed to continue from the state ${JSON.stringify(given)}: ${why}. ${whatToDo}.`;
  return new SandboxError("state_unreadable", message);
}

/** Throws `state_unreadable` for an error of the file system. */
export function orUnreadable<Result>(given: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
}

/** Throws `state_unwritable` for an error of the file system. */
export function orUnwritable(given: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const whatToDo = isFullDisk(error)
      ? `Free disk space, for example by removing copies ${JSON.stringify(`${given}.backup-…`)} that you no longer need.`
      : "Check its folder and permissions.";
    const message = `Failed to write the state to ${JSON.stringify(given)}: ${fileFailure(error)}. The file keeps its last saved state. ${whatToDo}`;
    throw Object.assign(new SandboxError("state_unwritable", message), { cause: error });
  }
}

export function isFullDisk(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
