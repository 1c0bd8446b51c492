import { makeOwnFolder } from "../../node/files/write-file.js";
import { nodePlatform } from "../../node/platform.js";
import { describeSandbox } from "../../sandbox/start.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { SandboxError } from "../../spec/errors.js";
import { type Instance, instanceState } from "../instances.js";
import type { MemoryLog } from "../memory-log.js";
import { identityOf } from "../state-format.js";
import {
  addRecordChange,
  addRequest,
  isSaved,
  type KeptSandbox,
  markUnsaved,
  openKept,
  saveKept,
} from "./kept-sandbox.js";
import { folderOf, instancePlace, type StatePlace, takenOver } from "./sandbox-file.js";

/** The files that are written at the same time for requests. */
const mostWrites = 4;

interface FilesOptions {
  readonly place: StatePlace;
  readonly log: Pick<MemoryLog, "runtime" | "instances">;
  /** The ids of the instances that have a file. */
  readonly saved: ReadonlySet<string>;
  readonly own: () => NamedScenario;
  readonly onProblem: (error: unknown) => void;
}

/** The files of a server's own sandbox and of all instances. */
export interface KeptFiles {
  readonly options: FilesOptions;
  readonly ownFile: KeptSandbox;
  readonly ofInstances: Map<string, KeptSandbox>;
  /** Those of removed instances, until they are gone. */
  readonly removed: Set<KeptSandbox>;
  /** The files that the current call has changed. */
  called: Set<KeptSandbox> | undefined;
  isSaving: boolean;
}

export function openFiles(options: FilesOptions): KeptFiles {
  const { place, log, own } = options;
  const { runtime } = log;
  const ownFile = openKept(place, runtime, {
    describe: () => ({ startedWith: identityOf(own()), own: describeSandbox(runtime) }),
  });
  return { options, ownFile, ofInstances: new Map(), removed: new Set(), called: undefined, isSaving: false };
}

/** Returns the file of an instance, or the own one. */
export function fileOf({ ownFile, ofInstances }: KeptFiles, instance: string | undefined) {
  return instance === undefined ? ownFile : ofInstances.get(instance);
}

export function listFiles({ ownFile, ofInstances }: KeptFiles): KeptSandbox[] {
  return [ownFile, ...ofInstances.values()];
}

export function changeFile(files: KeptFiles, file: KeptSandbox | undefined): void {
  if (file === undefined) return;
  markUnsaved(file, "changed");
  files.called?.add(file);
}

/** Starts to follow all sandboxes, and to write the files that are missing. */
export function followAll(files: KeptFiles): Promise<void>[] {
  keep(files, files.ownFile);
  files.options.log.instances.follow((instance) => keepInstance(files, instance));
  markUnsaved(files.ownFile, "changed");
  return [...files.ofInstances.values()].map((file) => saveSoon(files, file));
}

/** Saves what is unsaved, a few files at a time. What fails is tried again: the disk may have room later. */
export async function saveUnsaved(files: KeptFiles): Promise<void> {
  if (files.isSaving) return;
  files.isSaving = true;
  const due = [...listFiles(files), ...files.removed].filter(
    (file) => !isSaved(file) && file.writing === undefined,
  );
  const worker = async () => {
    for (let file = due.shift(); file !== undefined; file = due.shift()) await saveSoon(files, file);
  };
  await Promise.all(Array.from({ length: mostWrites }, worker));
  files.isSaving = false;
}

export async function saveFiles(
  files: KeptFiles,
  which: Iterable<KeptSandbox> = [...listFiles(files), ...files.removed],
): Promise<void> {
  await Promise.all(Array.from(which, (file) => saveOne(files, file)));
}

/** Runs a call, and resolves to its response once the files that it changed are written. */
export async function keepChanges(files: KeptFiles, run: (changed: Set<KeptSandbox>) => unknown) {
  const changed = new Set<KeptSandbox>();
  // A call changes something before it waits for anything.
  files.called = changed;
  let response: unknown;
  try {
    response = run(changed);
  } finally {
    files.called = undefined;
  }
  response = await response;
  try {
    await saveFiles(files, changed);
  } catch (error) {
    files.options.onProblem(error);
    const { code, message } = error as SandboxError;
    throw new SandboxError(code, message, response === undefined ? {} : { data: response });
  }
  return response;
}

async function saveOne(files: KeptFiles, file: KeptSandbox): Promise<void> {
  await saveKept(file);
  files.removed.delete(file);
}

/** Saves a file for which nobody waits, and reports its first failure. */
function saveSoon(files: KeptFiles, file: KeptSandbox): Promise<void> {
  const isKnown = file.failure !== undefined;
  return saveOne(files, file).catch((error) => {
    if (!isKnown) files.options.onProblem(error);
  });
}

function keep(files: KeptFiles, file: KeptSandbox): () => void {
  return file.runtime.history.subscribe((event) => {
    if (event.type === "request") {
      addRequest(file, event.exchange);
      // The server's own report counts the requests of instances.
      return markUnsaved(files.ownFile, "behind");
    }
    if (event.type === "record.changed") {
      addRecordChange(file, event.change);
      files.called?.add(file);
      // A rule runs again at its time.
      if (event.change.isByRule) return undefined;
    } else changeFile(files, file);
    // A call saves once it has its result; nobody waits for a timeline step.
    if (files.called === undefined && event.type !== "timeline.step") saveSoon(files, file);
  });
}

function keepInstance(files: KeptFiles, instance: Instance): void {
  const { id, gone, runtime } = instance;
  const { place, log, saved } = files.options;
  const file = openKept(instancePlace(place, id), runtime, {
    describe: () => ({ instances: [instanceState(instance, describeSandbox(runtime))] }),
    usedAt: () => Math.round(nodePlatform.time() - instance.idle),
    check() {
      if (files.ownFile.file.isForeign()) throw takenOver;
      makeOwnFolder(folderOf(place.file));
    },
  });
  files.ofInstances.set(id, file);
  const forget = keep(files, file);
  if (!saved.has(id)) changeFile(files, file);
  gone.addEventListener("abort", () => {
    // When the server stops, the instance is still in the list.
    if (log.instances.find(id) !== undefined) return;
    files.ofInstances.delete(id);
    files.removed.add(file);
    forget();
    markUnsaved(file, "gone");
    files.called?.add(file);
  });
}
