import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../node/files/lock.js";
import {
  brokenState,
  createSandboxFile,
  folderOf,
  instancePlace,
  isFullDisk,
  orUnreadable,
  orUnwritable,
  type SandboxFile,
  type StatePlace,
  takenOver,
  type Unsaved,
} from "../node/files/sandbox-file.js";
import { fileFailure, makeFolder, makeOwnFolder, targetOf } from "../node/files/write-file.js";
import { clearInterval, loadReader, nodePlatform, setInterval } from "../node/platform.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import { restoreSandbox, type SavedSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import type { Instance, InstanceLimits, Instances } from "./instances.js";
import { distantId, type SandboxPlace } from "./log.js";
import { createMemoryLog, type MemoryLog } from "./memory-log.js";
import { findState, type InstanceInFile, identityOf } from "./state-file.js";

export interface FileLogOptions extends InstanceLimits {
  readonly own: () => NamedScenario;
  readonly start: () => SandboxState;
  /** The options of scenarios that start later; the saved state has its own. */
  readonly given: GivenOptions;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  /** Whether to continue a state of svc-sandbox 0.2, or of fewer organizations and keys, after a backup. Default: false. */
  readonly migrate?: boolean | undefined;
  readonly onProblem: (error: unknown) => void;
}

export interface FileLog extends MemoryLog {
  /** When the state was saved (epoch milliseconds, wall clock); `undefined` for a new state. */
  readonly savedAt: number | undefined;
  /** Sentences about a migration, and where the state before is, or about a missing file; empty if there is nothing to note. */
  readonly note: string;
}

/** Milliseconds between two saves of requests. */
const pause = 500;

/**
 * Opens the log of a server whose sandboxes are each in a file, and continues all of them.
 *
 * A change is written before it is acknowledged; requests are written twice a second. Throws `state_unreadable` for the server's own
 * sandbox, `state_mismatch` for another scenario's state, or `state_in_use` if another server uses the file. An error leaves the
 * files unchanged. A use of an instance whose file is broken throws `state_unreadable`.
 */
export async function openFileLog(place: StatePlace, options: FileLogOptions): Promise<FileLog> {
  // All names of a state's file share one lock.
  const file = orUnreadable(place.given, () => targetOf(place.file));
  const unlock = await lock(file);
  if (unlock === undefined) {
    throw new SandboxError(
      "state_in_use",
      `The state ${JSON.stringify(place.given)} is in use by a running server. Stop that server, or name another file with --state.`,
    );
  }
  try {
    const target = { ...place, file };
    const found = findState(target, options);
    const states = [found.own, ...found.instances.map(({ runtime }) => runtime)];
    if (states.some((state) => state?.scenario.openapi !== undefined)) await loadReader();
    return openLocked(target, options, unlock, found);
  } catch (error) {
    unlock();
    throw error;
  }
}

function openLocked(
  place: StatePlace,
  options: FileLogOptions,
  unlock: () => void,
  found: ReturnType<typeof findState>,
): FileLog {
  const { own, start, given, onProblem } = options;
  const { broken, saved } = found;
  const runtime = found.own === undefined ? start() : restoredOwn(place.given, found.own, given);
  // No start gives out the request ids of another one, even if the disk is read-only.
  if (runtime.idGroup !== undefined || found.instances.length > 0)
    runtime.idSeries.last = runtime.idGroup ?? newGroup();
  const log = createMemoryLog(runtime, options);
  const { instances } = log;
  for (const described of found.instances) {
    try {
      instances.restore(described);
    } catch {
      broken.set(described.id, brokenState(instancePlace(place, described.id).given, true));
    }
  }
  const more = () => ({ started_with: identityOf(own()) });
  const ownFile = createSandboxFile(place, runtime, { more });
  const files = new Map<string, SandboxFile>();
  const due = new Map<SandboxFile, Unsaved>();
  /** Why a save of a file failed. */
  const failures = new Map<SandboxFile, unknown>();
  /** The files that the current call has changed. */
  let called: Set<SandboxFile> | undefined;
  let saving: NodeJS.Timeout | undefined;
  const fileOf = ({ instance }: Pick<SandboxPlace, "instance">) =>
    instance === undefined ? ownFile : files.get(instance);
  const mark = (file: SandboxFile, what: Unsaved) => {
    if (what !== "requests" || !due.has(file)) due.set(file, what);
    if (what !== "requests") called?.add(file);
  };
  const save = (file: SandboxFile) => {
    try {
      file.save(due.get(file) ?? "everything");
    } catch (error) {
      failures.set(file, (error as Error).cause);
      throw error;
    }
    due.delete(file);
    failures.delete(file);
  };
  const keep = (file: SandboxFile) =>
    file.runtime.history.subscribe((event) => {
      const { type } = event;
      if (type === "request") {
        file.addRequest(event.exchange);
        mark(file, "requests");
        // The server's own report counts the requests of instances.
        return mark(ownFile, "requests");
      }
      if (type === "record.changed") file.addChange(event.change);
      mark(file, type === "record.changed" ? "requests" : "everything");
      // A rule runs again at its time.
      if (type === "record.changed" && event.change.isByRule) return undefined;
      // A call saves once it has its result; nobody waits for a timeline step.
      if (called === undefined && type !== "timeline.step") save(file);
    });
  const keepInstance = (instance: Instance) => {
    const { id, createdAt, gone } = instance;
    const { given } = instance.runtime;
    const inFile = (): InstanceInFile => ({ ...instance.tenancy, createdAt, given });
    const file = createSandboxFile(instancePlace(place, id), instance.runtime, {
      more: () => ({ instance: inFile() }),
      idle: () => instance.idle,
      check() {
        if (ownFile.isForeign()) throw takenOver;
        makeOwnFolder(folderOf(place.file));
      },
    });
    files.set(id, file);
    const forget = keep(file);
    if (!saved.has(id)) mark(file, "everything");
    gone.addEventListener("abort", () => {
      // When the server stops, the instance is still in the list.
      if (instances.find(id) !== undefined) return;
      files.delete(id);
      forget();
      mark(file, "removal");
    });
  };
  // What fails is tried again soon: the disk may have room later.
  const saveAll = (onError: (error: unknown) => void) => {
    for (const file of due.keys()) {
      const isKnown = failures.has(file);
      try {
        save(file);
      } catch (error) {
        if (!isKnown) onError(error);
      }
    }
  };
  const keeping = (run: (changed: Set<SandboxFile>) => unknown): unknown => {
    const changed = new Set<SandboxFile>();
    const afterCall = (response: unknown) => {
      try {
        changed.forEach(save);
      } catch (error) {
        onProblem(error);
        const { code, message } = error as SandboxError;
        throw new SandboxError(code, message, response === undefined ? {} : { data: response });
      }
      return response;
    };
    // A call changes something before it waits for anything.
    called = changed;
    try {
      const response = run(changed);
      return response instanceof Promise ? response.then(afterCall) : afterCall(response);
    } finally {
      called = undefined;
    }
  };
  const instancesFor = (changed: Set<SandboxFile>): Instances => ({
    ...instances,
    remove(id) {
      if (!broken.has(id)) return instances.remove(id);
      const { file, given } = instancePlace(place, id);
      orUnwritable(given, () => rmSync(file, { force: true }));
      broken.delete(id);
    },
    changeHashes(id, hashes, check) {
      const instance = instances.changeHashes(id, hashes, check);
      const file = files.get(id) as SandboxFile;
      mark(file, "everything");
      changed.add(file);
      return instance;
    },
  });
  return {
    ...log,
    savedAt: found.own && (found.own.since ?? found.own).at,
    note: found.note,
    // Followers of an earlier process must notice that they have missed events.
    firstEvent: distantId,
    enter(id) {
      const error = broken.get(id);
      if (error !== undefined) throw error;
      const file = files.get(id);
      // Its last use is kept with the next requests.
      if (file !== undefined) mark(file, "requests");
      return log.enter(id);
    },
    countUnread(at, id) {
      log.countUnread(at, id);
      const file = fileOf(at);
      // Its request may already be in the file.
      if (file !== undefined) mark(file, "everything");
    },
    call: (call, run, from) =>
      keeping(() => {
        const response = log.call(call, run, from);
        const file = fileOf(from);
        if (file !== undefined) mark(file, "everything");
        return response;
      }),
    manage: (run, from) =>
      keeping((changed) =>
        log.manage((at) => run({ ...at, instances: at.instances && instancesFor(changed) }), from),
      ),
    status() {
      const isTaken = ownFile.isForeign();
      const [failure] = isTaken ? [takenOver] : failures.values();
      return {
        ...{ in: "file", reachable: true, losses: 0, isTaken, broken: broken.size },
        bytes: [ownFile, ...files.values()].reduce((sum, one) => sum + one.sizes().all, 0),
        problem: failure === undefined ? undefined : `The state cannot be saved: ${fileFailure(failure)}.`,
        isFull: isFullDisk(failure),
      };
    },
    begin() {
      if (!found.isThere) orUnwritable(place.given, () => makeFolder(dirname(place.file), 0o700));
      if (saved.size > 0) orUnwritable(folderOf(place.given), () => makeOwnFolder(folderOf(place.file)));
      broken.forEach(onProblem);
      keep(ownFile);
      instances.follow(keepInstance);
      // The last one: without it, the others are written again.
      mark(ownFile, "everything");
      saveAll((error) => {
        // If there is a state, it is whole, and is written once the disk allows it.
        if (!found.isThere) throw error;
        onProblem(error);
      });
      saving = setInterval(() => saveAll(onProblem), pause).unref();
    },
    close() {
      try {
        if (saving === undefined) return;
        clearInterval(saving);
        saving = undefined;
        if (ownFile.sizes().rest > 0) mark(ownFile, "everything");
        for (const file of due.keys()) save(file);
      } finally {
        unlock();
      }
    },
  };
}

function restoredOwn(given: string, own: SavedSandbox, options: GivenOptions): SandboxState {
  try {
    return restoreSandbox(own, nodePlatform, { given: options, idGroup: newGroup() });
  } catch {
    throw brokenState(given);
  }
}

/** Returns a group of request ids that no other start is likely to have, with room for a million instances after it. */
function newGroup(): number {
  return (1 + (nodePlatform.random() % 2 ** 31)) * 2 ** 20;
}
