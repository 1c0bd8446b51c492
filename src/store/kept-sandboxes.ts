import {
  clearInterval,
  clearTimeout,
  loadReader,
  nodePlatform,
  setInterval,
  setTimeout,
} from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import type { ApiRequest } from "../rules/request.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { describeSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import {
  type Instance,
  type InstanceState,
  type Instances,
  instanceState,
  newInstanceId,
} from "./instances.js";
import type { MemoryStore } from "./memory-store.js";
import {
  brokenState,
  identityOf,
  type KnownScenarios,
  ownId,
  type Place,
  parseState,
  stateText,
} from "./state-format.js";
import type { CallKind, CallOrigin, Entered, RunIn, SandboxPlace } from "./store.js";

/** Milliseconds between two saves of requests, and the texts that are written at the same time for them. */
const pause = 500;
const maxWrites = 4;

interface KeptOptions {
  readonly own: () => NamedScenario;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Keeps the sandboxes in memory as texts in a place: a change before its response, requests soon after. One whose text cannot be read
 * is broken, and no other.
 */
export class KeptSandboxes {
  readonly #place: Place;
  readonly #memory: MemoryStore;
  readonly #options: KeptOptions;
  /** By id, also of a removed instance until its text is gone. */
  readonly #texts = new Map<string, KeptText>();
  readonly #broken = new Map<string, SandboxError>();
  /** The instances that have a text and are not in memory yet. */
  readonly #unread = new Map<string, Promise<void> | undefined>();
  readonly #known: KnownScenarios = new Map();
  /** When everything was saved (epoch milliseconds, wall clock): the time since then does not count as idle. */
  #stoppedAt = 0;
  #reading: string | undefined;
  #saving: NodeJS.Timeout | undefined;
  #isSaving = false;
  #isBegun = false;

  constructor(place: Place, memory: MemoryStore, options: KeptOptions) {
    this.#place = place;
    this.#memory = memory;
    this.#options = options;
    const describe = () =>
      stateText({ startedWith: identityOf(options.own()), own: describeSandbox(memory.sandbox) });
    this.#keep(this.#add(ownId, describe), memory.sandbox);
    memory.instances.follow((instance) => this.#keepInstance(instance));
  }

  /** Continues the instances that have a text, each at its first use or with `readAll`. */
  expect(ids: readonly string[], stoppedAt: number): void {
    for (const id of ids) this.#unread.set(id, undefined);
    this.#stoppedAt = stoppedAt;
  }

  /** Continues them one after the other: that needs little more memory than they keep. */
  async readAll(): Promise<void> {
    for (const id of [...this.#unread.keys()]) await this.#read(id);
  }

  /** Continues an instance of another text; that it has none yet is its first change. */
  async restore(state: InstanceState): Promise<void> {
    const { id, sandbox, usedAt } = state;
    if (sandbox.scenario.openapi !== undefined) await loadReader();
    this.#memory.instances.restore(state, Math.max(this.#stoppedAt, sandbox.at) - usedAt);
    this.#textOf(id)?.mark(true);
  }

  /** Saves what is unsaved, and from now on what happens. Rejects if the server's own text cannot be written. */
  async begin(): Promise<void> {
    this.#broken.forEach(this.#options.onProblem);
    this.#saving = setInterval(() => this.#saveUnsaved(), pause).unref();
    const [own, ...others] = this.#list();
    await Promise.allSettled(others.map((text) => text.isSaved() || text.save()));
    // The last one: without it, the others are written again.
    own?.mark(true);
    await own?.save().finally(() => {
      this.#isBegun = true;
    });
  }

  /** Saves everything, and nothing after that. Rejects if something cannot be written. */
  async end(): Promise<void> {
    if (this.#saving === undefined) return;
    clearInterval(this.#saving);
    this.#saving = undefined;
    for (const text of this.#list()) text.hurry();
    await Promise.all(this.#list().map((text) => text.isSaved() || text.save()));
  }

  enter(id: string): Entered | Promise<Entered> {
    if (this.#unread.has(id)) return this.#read(id).then(() => this.enter(id));
    this.#requireWhole(id);
    return this.#memory.enter(id);
  }

  /** A request that only reads never waits. Any other response waits for the changes that it has made or seen. */
  request(request: ApiRequest, at: SandboxPlace): Exchange | Promise<Exchange> {
    const exchange = this.#memory.request(request, at);
    if (request.method === "GET" || request.method === "HEAD") return exchange;
    return (
      this.#textOf(at.instance)
        ?.settled()
        ?.then(() => exchange) ?? exchange
    );
  }

  countUnread(at: SandboxPlace, id: string): void {
    this.#memory.countUnread(at, id);
    this.#textOf(at.instance)?.mark(false);
  }

  /** The response of a change, also a rejection, waits until everything is written that it depends on. */
  run(kind: CallKind, act: RunIn, from: CallOrigin): unknown {
    const memory = this.#memory;
    if (kind === "read") return memory.run(kind, act, from);
    if (kind === "change") {
      const text = this.#textOf(from.instance);
      return settle(
        () => memory.run(kind, act, from),
        () => text?.mark(true),
        () => [text],
      );
    }
    const used = new Set<string>();
    const instances = this.#instancesOf(used);
    return settle(
      () => memory.run(kind, (at) => act({ ...at, instances: at.instances && instances }), from),
      () => {},
      () => [...used].map((id) => this.#texts.get(id)),
    );
  }

  isSaved(): boolean {
    return this.#list().every((text) => text.isSaved());
  }

  status() {
    const all = this.#list();
    return {
      broken: [...this.#broken].map(([id, { message }]) => ({ id, reason: message })),
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      unsavedFor: Math.max(...all.map((text) => text.unsavedFor())),
      failure: all.find((text) => text.failure !== undefined)?.failure,
    };
  }

  #list(): KeptText[] {
    return [...this.#texts.values()];
  }

  #textOf(instance: string | undefined): KeptText | undefined {
    return this.#texts.get(instance ?? ownId);
  }

  #add(id: string, describe: () => string | undefined): KeptText {
    const place = this.#place;
    const text = new KeptText({
      describe,
      onFailure: (error) => this.#isBegun && this.#options.onProblem(error),
      write: (content) =>
        (content === undefined ? place.remove(id) : place.write(id, content)).catch((error) => {
          throw place.failureOf(id, error);
        }),
    });
    this.#texts.set(id, text);
    return text;
  }

  /** Marks what happens in a sandbox. Returns a function that ends this. */
  #keep(text: KeptText, { history }: SandboxState): () => void {
    return history.subscribe((event) => {
      // A rule runs again at its time, and so does a step.
      const isRepeated =
        event.type === "record.changed" ? event.change.isByRule : event.type === "timeline.step";
      const isChanged = event.type !== "request" && !isRepeated;
      text.mark(isChanged);
      if (isChanged) this.#saveSoon(text);
      // The server's own report counts the requests of instances.
      if (event.type === "request") this.#textOf(undefined)?.mark(false);
    });
  }

  #keepInstance({ id, gone, sandbox }: Instance): void {
    const { instances } = this.#memory;
    const describe = () => {
      const instance = instances.find(id);
      if (instance !== undefined)
        return stateText({ instances: [instanceState(instance, describeSandbox(instance.sandbox))] });
      this.#texts.delete(id);
      return undefined;
    };
    // A new instance with the id of a removed one continues its text, which may still be in use.
    const text = this.#texts.get(id) ?? this.#add(id, describe);
    if (this.#reading !== id) this.#change(text);
    const forget = this.#keep(text, sandbox);
    gone.addEventListener("abort", () => {
      // When the server stops, the instance is still in the list.
      if (instances.find(id) !== undefined) return;
      forget();
      this.#change(text);
    });
  }

  #change(text: KeptText): void {
    text.mark(true);
    this.#saveSoon(text);
  }

  /** Saves a text for which nobody waits. Its first failure is reported, and it is tried again. */
  #saveSoon(text: KeptText): void {
    if (this.#saving !== undefined) text.save().catch(() => {});
  }

  /** Saves what is unsaved, a few texts at a time. */
  async #saveUnsaved(): Promise<void> {
    if (this.#isSaving) return;
    this.#isSaving = true;
    const due = this.#list().filter((text) => !text.isSaved());
    const work = async () => {
      for (let text = due.shift(); text !== undefined; text = due.shift()) await text.save().catch(() => {});
    };
    await Promise.all(Array.from({ length: maxWrites }, work));
    this.#isSaving = false;
  }

  #read(id: string): Promise<void> {
    const reading =
      this.#unread.get(id) ??
      this.#restoreText(id)
        .catch((error) => {
          const broken = error instanceof SandboxError ? error : brokenState(this.#place.nameOf(id), true);
          this.#broken.set(id, broken);
        })
        .finally(() => this.#unread.delete(id));
    this.#unread.set(id, reading);
    return reading;
  }

  async #restoreText(id: string): Promise<void> {
    const name = this.#place.nameOf(id);
    const text = (await this.#place.read(id)) ?? "";
    // Somebody may have put a whole export there.
    const state = parseState(text, name, { isInstance: true, known: this.#known }).instances.find(
      (one) => one.id === id,
    );
    if (state === undefined) throw brokenState(name, true);
    if (state.sandbox.scenario.openapi !== undefined) await loadReader();
    this.#reading = id;
    try {
      this.#memory.instances.restore(state, Math.max(this.#stoppedAt, state.sandbox.at) - state.usedAt);
    } finally {
      this.#reading = undefined;
    }
  }

  /** Throws if the text of the instance is broken. */
  #requireWhole(id = ""): void {
    const error = this.#broken.get(id);
    if (error !== undefined) throw error;
  }

  /** The instances for a call: a broken one can be removed, and `used` gets the ids of those that it is about. */
  #instancesOf(used: Set<string>): Instances {
    const { instances } = this.#memory;
    const use = (id: string) => {
      used.add(id);
      this.#requireWhole(id);
    };
    return {
      ...instances,
      get(id) {
        used.add(id);
        return instances.get(id);
      },
      remove: async (id) => {
        used.add(id);
        if (!this.#broken.has(id)) return instances.remove(id);
        await this.#place.remove(id).catch((error) => {
          throw this.#place.failureOf(id, error);
        });
        this.#broken.delete(id);
      },
      create(source, given, tenancy, id = newInstanceId()) {
        use(id);
        return instances.create(source, given, tenancy, id);
      },
      changeHashes: (...given) => {
        use(given[0]);
        const instance = instances.changeHashes(...given);
        this.#textOf(instance.id)?.mark(true);
        return instance;
      },
    };
  }
}

/** Runs a call, and resolves to its response once the texts are written that it has changed, or that its rejection depends on. */
async function settle(
  run: () => unknown,
  markChanged: () => void,
  textsOf: () => readonly (KeptText | undefined)[],
): Promise<unknown> {
  const written = () => Promise.all(textsOf().map((text) => text?.settled()));
  let response: unknown;
  try {
    response = await run();
    markChanged();
  } catch (error) {
    await written();
    throw error;
  }
  try {
    await written();
  } catch (error) {
    const { code, message } = error as SandboxError;
    throw new SandboxError(code, message, response === undefined ? {} : { data: response });
  }
  return response;
}

interface TextOptions {
  /** Describes everything that the text has; `undefined` removes it. */
  readonly describe: () => string | undefined;
  readonly write: (text: string | undefined) => Promise<void>;
  /** Called with the first failure after a success. */
  readonly onFailure: (error: unknown) => void;
}

/** What no text has: since when (on the stopwatch), and whether a change is among it, which nobody may hear of yet. */
interface Unsaved {
  readonly since: number;
  readonly isChanged: boolean;
}

/** A text that takes longer to make, in milliseconds, is made again only after a pause of so many times that, at most the longest. */
const pauses = { from: 5, times: 19, longest: 2000 };
const now = () => nodePlatform.stopwatch();

/** One text in its place. All who wait share the next write, which has everything from before it began. */
export class KeptText {
  /** The bytes of the last written text. */
  bytes = 0;
  /** Why the last write failed; `undefined` if it did not. */
  failure: unknown;
  readonly #options: TextOptions;
  #unsaved: Unsaved | undefined;
  /** What the current write writes. */
  #inWriting: Unsaved | undefined;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #pausesUntil = Number.NEGATIVE_INFINITY;
  #skip = () => {};

  constructor(options: TextOptions) {
    this.#options = options;
  }

  /** Something has happened that the text lacks: a change, or only requests. */
  mark(isChanged: boolean): void {
    this.#unsaved = merged(this.#unsaved, { since: now(), isChanged });
  }

  /** Resolves once everything from before this call is written. Rejects with what the write threw; a later save writes it then. */
  save(): Promise<void> {
    this.#next ??= this.#write();
    return this.#next;
  }

  /** Like `save` if a change is not written yet; otherwise returns `undefined`. */
  settled(): Promise<void> | undefined {
    if (this.#unsaved?.isChanged) return this.save();
    return this.#inWriting?.isChanged ? this.#current : undefined;
  }

  /** Ends pauses: the server stops. */
  hurry(): void {
    this.#pausesUntil = Number.NEGATIVE_INFINITY;
    this.#skip();
  }

  isSaved(): boolean {
    return this.#unsaved === undefined && this.#inWriting === undefined;
  }

  /** The milliseconds since the oldest that is not written. */
  unsavedFor(): number {
    const { since } = this.#inWriting ?? this.#unsaved ?? {};
    return since === undefined ? 0 : now() - since;
  }

  async #write(): Promise<void> {
    // One turn later, so that changes of the same turn share it.
    await this.#current?.catch(() => {});
    await this.#pause();
    this.#current = this.#next;
    this.#next = undefined;
    const unsaved = this.#unsaved;
    if (unsaved === undefined) return;
    [this.#unsaved, this.#inWriting] = [undefined, unsaved];
    try {
      const started = now();
      const text = this.#options.describe();
      const took = now() - started;
      if (took > pauses.from) this.#pausesUntil = now() + Math.min(pauses.longest, pauses.times * took);
      await this.#options.write(text);
      this.bytes = text === undefined ? 0 : Buffer.byteLength(text);
      this.failure = undefined;
    } catch (error) {
      this.#unsaved = merged(unsaved, this.#unsaved);
      const isKnown = this.failure !== undefined;
      this.failure = error;
      if (!isKnown) this.#options.onFailure(error);
      throw error;
    } finally {
      this.#inWriting = undefined;
    }
  }

  async #pause(): Promise<void> {
    const left = this.#pausesUntil - now();
    if (left <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left);
      this.#skip = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function merged(one: Unsaved | undefined, other: Unsaved | undefined): Unsaved | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { since: one.since, isChanged: one.isChanged || other.isChanged };
}
