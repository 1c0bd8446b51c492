import { clearTimeout, nodePlatform, setTimeout } from "../node/platform.js";

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
