import { promises } from "node:fs";
import { dirname } from "node:path";
import { scenarioDuration } from "../library/capture.js";
import { lock } from "../node/files/lock.js";
import { fileFailure, makeFolder, makeOwnFolder, targetOf } from "../node/files/write-file.js";
import { clearInterval, loadReader, nodePlatform, setInterval } from "../node/platform.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import { describeSandbox, restoreSandbox, type SavedSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import { findState, readInstance, savedAt } from "./found-state.js";
import { settingsOf } from "./founding.js";
import {
  defaultInstanceTtl,
  defaultMaxInstances,
  type Instance,
  type InstanceLimits,
  type InstanceState,
  type Instances,
  instanceState,
} from "./instances.js";
import { type KeptSandbox, keepSandbox } from "./kept-sandbox.js";
import { distantId, type Log, type SandboxPlace } from "./log.js";
import { createMemoryLog, type MemoryLog } from "./memory-log.js";
import {
  folderOf,
  instancePlace,
  isFullDisk,
  orUnreadable,
  type StatePlace,
  takenOver,
  unwritableState,
} from "./sandbox-file.js";
import { brokenState, identityOf, type KnownScenarios } from "./state-format.js";

export interface FileLogOptions extends InstanceLimits {
  readonly own: () => NamedScenario;
  readonly start: () => SandboxState;
  /** The options of scenarios that start later; the saved state has its own. */
  readonly given: GivenOptions;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  readonly onProblem: (error: unknown) => void;
}

export interface FileLog extends MemoryLog {
  /** When the state was saved (epoch milliseconds, wall clock); `undefined` for a new state. */
  readonly savedAt: number | undefined;
  /** Sentences about a changed version or setting, or a missing file; empty if there is nothing to note. */
  readonly note: string;
}

/** Milliseconds between two saves of requests. */
const pause = 500;
/** The files that are written at the same time for requests. */
const mostWrites = 4;

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
    return fileLog(await continued({ ...place, file }, options), options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

type Continued = Awaited<ReturnType<typeof continued>>;

/** Continues what the files have, one instance after the other: a start needs little more memory than it keeps. */
async function continued(place: StatePlace, options: FileLogOptions) {
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const settings = settingsOf({
    "--max-instances": maxInstances,
    "--instance-ttl": scenarioDuration(instanceTtl),
  });
  const found = findState(place, { ...options, settings });
  if (found.own?.scenario.openapi !== undefined) await loadReader();
  const runtime =
    found.own === undefined ? options.start() : restoredOwn(place.given, found.own, options.given);
  // No start gives out the request ids of another one, even if the disk is read-only.
  if (runtime.idGroup !== undefined || found.ids.length + found.inside.length > 0)
    runtime.idSeries.last = runtime.idGroup ?? newGroup();
  const log = createMemoryLog(runtime, options);
  const broken = new Map<string, SandboxError>();
  const used: [id: string, usedAt: number][] = [];
  let alive = found.own === undefined ? 0 : savedAt(found.own);
  const restore = async (id: string, read: () => InstanceState) => {
    try {
      const state = read();
      if (state.runtime.scenario.openapi !== undefined) await loadReader();
      log.instances.restore(state);
      alive = Math.max(alive, savedAt(state.runtime));
      used.push([id, state.usedAt]);
    } catch (error) {
      const { given } = instancePlace(place, id);
      broken.set(id, error instanceof SandboxError ? error : brokenState(given, true));
    }
  };
  const known: KnownScenarios = new Map();
  for (const id of found.ids) await restore(id, () => readInstance(place, id, known));
  for (const one of found.inside) await restore(one.id, () => one);
  // The stop does not count as idle time.
  for (const [id, usedAt] of used) log.instances.setIdle(id, Math.max(0, alive - usedAt));
  const saved = new Set(found.ids);
  const { own, note, isThere } = found;
  return { place, log, broken, saved, settings, isThere, note, savedAt: own && savedAt(own) };
}

function fileLog(found: Continued, options: FileLogOptions, unlock: () => void): FileLog {
  const { log, broken } = found;
  const files = keepFiles(found, options);
  const { ownFile, save } = files;
  let saving: NodeJS.Timeout | undefined;
  return {
    ...log,
    savedAt: found.savedAt,
    note: found.note,
    // Followers of an earlier process must notice that they have missed events.
    firstEvent: distantId,
    enter(id) {
      const error = broken.get(id);
      if (error !== undefined) throw error;
      // Its last use is kept with the next requests.
      files.of({ instance: id })?.mark("behind");
      return log.enter(id);
    },
    countUnread(at, id) {
      log.countUnread(at, id);
      // Its request may already be in the file.
      files.of(at)?.mark("changed");
    },
    call: (call, run, from) =>
      files.keeping(() => {
        const response = log.call(call, run, from);
        files.change(files.of(from));
        return response;
      }),
    manage: (run, from) =>
      files.keeping((changed) =>
        log.manage(
          (at) => run({ ...at, instances: at.instances && keptInstances(found, files, changed) }),
          from,
        ),
      ),
    status: () => statusOf(found, files),
    async begin() {
      broken.forEach(options.onProblem);
      const first = files.follow();
      saving = setInterval(save, pause).unref();
      try {
        makeFolders(found);
        await Promise.allSettled(first);
        // The last one: without it, the others are written again.
        await ownFile.save();
      } catch (error) {
        // If there is a state, it is whole, and is written once the disk allows it.
        if (!found.isThere) throw error;
        options.onProblem(error);
      }
    },
    async close() {
      try {
        if (saving === undefined) return;
        clearInterval(saving);
        saving = undefined;
        if (!ownFile.isSaved() || ownFile.sizes().rest > 0) ownFile.mark("changed");
        await files.saveAll();
      } finally {
        unlock();
      }
    },
  };
}

function makeFolders({ place, isThere, saved }: Continued): void {
  try {
    if (!isThere) makeFolder(dirname(place.file), 0o700);
    if (saved.size > 0) makeOwnFolder(folderOf(place.file));
  } catch (error) {
    throw unwritableState(place.given, error);
  }
}

type Files = ReturnType<typeof keepFiles>;

/** Keeps the files of the server's own sandbox and of all instances. */
function keepFiles({ place, log, saved, settings }: Continued, { own, onProblem }: FileLogOptions) {
  const { runtime, instances } = log;
  const { version: _, ...flags } = settings;
  const ownFile = keepSandbox(place, runtime, {
    describe: () => ({ startedWith: identityOf(own()), settings: flags, own: describeSandbox(runtime) }),
  });
  const files = new Map<string, KeptSandbox>();
  const all = new Set([ownFile]);
  /** The files that the current call has changed. */
  let called: Set<KeptSandbox> | undefined;
  let isSaving = false;
  const report = (file: KeptSandbox) => {
    const isKnown = file.failure() !== undefined;
    return (error: unknown) => {
      if (!isKnown) onProblem(error);
    };
  };
  const change = (file: KeptSandbox | undefined) => {
    if (file === undefined) return;
    file.mark("changed");
    called?.add(file);
  };
  const keep = (file: KeptSandbox) =>
    file.runtime.history.subscribe((event) => {
      if (event.type === "request") {
        file.addRequest(event.exchange);
        // The server's own report counts the requests of instances.
        return ownFile.mark("behind");
      }
      if (event.type === "record.changed") {
        file.addChange(event.change);
        called?.add(file);
        // A rule runs again at its time.
        if (event.change.isByRule) return undefined;
      } else change(file);
      // A call saves once it has its result; nobody waits for a timeline step.
      if (called === undefined && event.type !== "timeline.step") file.save().catch(report(file));
    });
  const keepInstance = (instance: Instance) => {
    const { id, gone, runtime } = instance;
    const describe = () => instanceState(instance, describeSandbox(runtime));
    const file = keepSandbox(instancePlace(place, id), runtime, {
      describe: () => ({ instances: [describe()] }),
      usedAt: () => Math.round(nodePlatform.time() - instance.idle),
      check() {
        if (ownFile.isForeign()) throw takenOver;
        makeOwnFolder(folderOf(place.file));
      },
    });
    files.set(id, file);
    all.add(file);
    const forget = keep(file);
    if (!saved.has(id)) change(file);
    gone.addEventListener("abort", () => {
      // When the server stops, the instance is still in the list.
      if (instances.find(id) !== undefined) return;
      files.delete(id);
      forget();
      file.mark("gone");
      called?.add(file);
    });
    return file;
  };
  const saveOne = async (file: KeptSandbox) => {
    await file.save();
    if (file !== ownFile && ![...files.values()].includes(file)) all.delete(file);
  };
  return {
    ...{ ownFile, files, change },
    of: ({ instance }: Pick<SandboxPlace, "instance">) =>
      instance === undefined ? ownFile : files.get(instance),
    /** Starts to follow all sandboxes, and to write the files that are missing. */
    follow() {
      keep(ownFile);
      instances.follow(keepInstance);
      ownFile.mark("changed");
      return [...files.values()].map((file) => file.save().catch(report(file)));
    },
    /** Saves what is unsaved, a few files at a time. What fails is tried again: the disk may have room later. */
    async save() {
      if (isSaving) return;
      isSaving = true;
      const due = [...all].filter((file) => !file.isSaved() && !file.isWriting());
      const worker = async () => {
        for (let file = due.shift(); file !== undefined; file = due.shift())
          await saveOne(file).catch(report(file));
      };
      await Promise.all(Array.from({ length: mostWrites }, worker));
      isSaving = false;
    },
    async saveAll() {
      await Promise.all([...all].map(saveOne));
    },
    /** Runs a call, and resolves to its response once the files that it changed are written. */
    async keeping(run: (changed: Set<KeptSandbox>) => unknown): Promise<unknown> {
      const changed = new Set<KeptSandbox>();
      // A call changes something before it waits for anything.
      called = changed;
      let response: unknown;
      try {
        response = run(changed);
      } finally {
        called = undefined;
      }
      response = await response;
      try {
        await Promise.all([...changed].map(saveOne));
      } catch (error) {
        onProblem(error);
        const { code, message } = error as SandboxError;
        throw new SandboxError(code, message, response === undefined ? {} : { data: response });
      }
      return response;
    },
  };
}

/** The instances for a call: a broken one can be removed, and new hashes are stored. */
function keptInstances(
  { place, log: { instances }, broken }: Continued,
  files: Files,
  changed: Set<KeptSandbox>,
): Instances {
  return {
    ...instances,
    async remove(id) {
      if (!broken.has(id)) return instances.remove(id);
      const { file, given } = instancePlace(place, id);
      await promises.rm(file, { force: true }).catch((error) => {
        throw unwritableState(given, error);
      });
      broken.delete(id);
    },
    changeHashes(...given) {
      const instance = instances.changeHashes(...given);
      const file = files.files.get(instance.id) as KeptSandbox;
      file.mark("changed");
      changed.add(file);
      return instance;
    },
  };
}

function statusOf({ broken }: Continued, { ownFile, files }: Files): ReturnType<Log["status"]> {
  const isTaken = ownFile.isForeign();
  const all = [ownFile, ...files.values()];
  const failure = isTaken ? takenOver : all.map((one) => one.failure()).find((one) => one !== undefined);
  return {
    ...{ in: "file", reachable: true, losses: 0, isTaken, broken: broken.size },
    bytes: all.reduce((sum, one) => sum + one.sizes().all, 0),
    unsavedFor: Math.max(...all.map((one) => one.unsavedFor())),
    problem: failure === undefined ? undefined : `The state cannot be saved: ${fileFailure(failure)}.`,
    isFull: isFullDisk(failure),
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
