import { makeOwnFolder } from "../../node/files/write-file.js";
import { nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import { describeLine } from "../../sandbox/line.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { describeSandbox } from "../../sandbox/start.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { type Instance, instanceState } from "../instances.js";
import type { MemoryStore } from "../memory-store.js";
import { identityOf } from "../state-format.js";
import { folderOf, instancePlace } from "./found-state.js";
import {
  addRecordChange,
  addRequest,
  isForeign,
  isSaved,
  type KeptSandbox,
  markBehind,
  markChanged,
  openKept,
  type StatePlace,
  saveKept,
  takenOver,
} from "./kept-sandbox.js";

/** The files that are written at the same time for requests. */
const maxWrites = 4;

interface FilesOptions {
  readonly place: StatePlace;
  readonly memory: Pick<MemoryStore, "sandbox" | "instances">;
  readonly own: () => NamedScenario;
  readonly onProblem: (error: unknown) => void;
}

/** The files of a server's own sandbox and of all instances, also of a removed one until its file is gone. */
export interface KeptFiles {
  readonly options: FilesOptions;
  readonly ownFile: KeptSandbox;
  readonly ofInstances: Map<string, KeptSandbox>;
  /** The files that the current call has changed. */
  called: Set<KeptSandbox> | undefined;
  isSaving: boolean;
}

export function openFiles(options: FilesOptions): KeptFiles {
  const { place, memory, own } = options;
  const { sandbox } = memory;
  const ownFile = openKept(place, {
    describe: () => ({ startedWith: identityOf(own()), own: describeSandbox(sandbox) }),
    describeLine: (happened) => ({ line: describeLine(sandbox, happened) }),
  });
  return { options, ownFile, ofInstances: new Map(), called: undefined, isSaving: false };
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
  markChanged(file);
  files.called?.add(file);
}

/** Starts to follow all sandboxes, and to write the files that are missing: only instances with these ids have one. */
export function followAll(files: KeptFiles, saved: readonly string[]): Promise<void>[] {
  const left = new Set(saved);
  keep(files, files.ownFile, files.options.memory.sandbox);
  files.options.memory.instances.follow((instance) => {
    const file = keepInstance(files, instance);
    if (!left.delete(instance.id)) changeFile(files, file);
  });
  markChanged(files.ownFile);
  return [...files.ofInstances.values()].map((file) => saveSoon(files, file));
}

/** Saves what is unsaved, a few files at a time. What fails is tried again: the disk may have room later. */
export async function saveUnsaved(files: KeptFiles): Promise<void> {
  if (files.isSaving) return;
  files.isSaving = true;
  const due = listFiles(files).filter((file) => !isSaved(file) && file.writing === undefined);
  const worker = async () => {
    for (let file = due.shift(); file !== undefined; file = due.shift()) await saveSoon(files, file);
  };
  await Promise.all(Array.from({ length: maxWrites }, worker));
  files.isSaving = false;
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
    await Promise.all(Array.from(changed, saveKept));
  } catch (error) {
    files.options.onProblem(error);
    const { code, message } = error as SandboxError;
    throw new SandboxError(code, message, response === undefined ? {} : { data: response });
  }
  return response;
}

/** Handles a request. If it changed records, resolves once they are in the file, which rejects with `state_unwritable`. */
export function keepRecords(files: KeptFiles, run: () => Exchange): Exchange | Promise<Exchange> {
  const changed = new Set<KeptSandbox>();
  files.called = changed;
  let exchange: Exchange;
  try {
    exchange = run();
  } finally {
    files.called = undefined;
  }
  for (const file of changed) {
    if (!hasRecords(file)) saveSoon(files, file);
    else return saveRecords(files, file).then(() => exchange);
  }
  return exchange;
}

const hasRecords = ({ unsaved }: KeptSandbox) => unsaved.changes.some((change) => !change.isByRule);

async function saveRecords({ options }: KeptFiles, file: KeptSandbox): Promise<void> {
  const isKnown = file.failure !== undefined;
  try {
    await saveKept(file);
  } catch (error) {
    if (!isKnown) options.onProblem(error);
    throw error;
  }
}

/** Saves a file for which nobody waits, and reports its first failure. */
function saveSoon(files: KeptFiles, file: KeptSandbox): Promise<void> {
  const isKnown = file.failure !== undefined;
  return saveKept(file).catch((error) => {
    if (!isKnown) files.options.onProblem(error);
  });
}

/** Marks what happens in a sandbox as unsaved. Returns a function that ends this. */
function keep(files: KeptFiles, file: KeptSandbox, { history }: SandboxState): () => void {
  return history.subscribe((event) => {
    if (event.type === "request") {
      addRequest(file, event.exchange);
      // The server's own report counts the requests of instances.
      return markBehind(files.ownFile);
    }
    if (event.type === "record.changed") {
      addRecordChange(file, event.change);
      // A rule runs again at its time.
      if (event.change.isByRule) return undefined;
      files.called?.add(file);
    } else changeFile(files, file);
    // A call saves once it has its result; nobody waits for a timeline step.
    if (files.called === undefined && event.type !== "timeline.step") saveSoon(files, file);
  });
}

function keepInstance(files: KeptFiles, { id, gone, sandbox }: Instance): KeptSandbox {
  const { instances } = files.options.memory;
  // A new instance with the id of a removed one continues its file, which may still be in use.
  const file = files.ofInstances.get(id) ?? openInstance(files, id);
  files.ofInstances.set(id, file);
  const forget = keep(files, file, sandbox);
  gone.addEventListener("abort", () => {
    // When the server stops, the instance is still in the list.
    if (instances.find(id) !== undefined) return;
    forget();
    changeFile(files, file);
  });
  return file;
}

function openInstance(files: KeptFiles, id: string): KeptSandbox {
  const { place, memory } = files.options;
  const find = () => memory.instances.find(id);
  return openKept(instancePlace(place, id), {
    describe() {
      const instance = find();
      return instance && { instances: [instanceState(instance, describeSandbox(instance.sandbox))] };
    },
    describeLine(happened) {
      const { idle, sandbox } = find() as Instance;
      return { usedAt: Math.round(nodePlatform.time() - idle), line: describeLine(sandbox, happened) };
    },
    check() {
      if (isForeign(files.ownFile)) throw takenOver;
      makeOwnFolder(folderOf(place.file));
    },
    onRemoved() {
      if (find() === undefined) files.ofInstances.delete(id);
    },
  });
}
