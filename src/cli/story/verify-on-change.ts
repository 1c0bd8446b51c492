import { nodePlatform } from "../../node/platform.js";
import { aborted } from "../io.js";
import type { Printer } from "../output/terminal.js";
import { FileWatch } from "../serve/file-watch.js";

interface VerifyOnChangeOptions {
  /** Verifies the scenarios, and prints the result; resolves to the files that they were read from. */
  readonly verify: () => Promise<readonly string[]>;
  /** Where the results are printed. */
  readonly output: Printer;
  /** Called each time before the wait for a change. */
  readonly onWait: () => void;
  /** Gets the error of a later verification, which does not end the watch. */
  readonly onError: (error: unknown) => void;
  readonly stop: AbortSignal;
}

/** Verifies scenarios, and again whenever one of their files changes. */
export class VerifyOnChange {
  readonly #options: VerifyOnChangeOptions;
  readonly #watch = new FileWatch(() => this.#verifyAgain());
  /** Aborted once the reader of the results is gone: nobody waits for the next one. */
  readonly #readerGone = new AbortController();

  constructor(options: VerifyOnChangeOptions) {
    this.#options = options;
  }

  /** Resolves once it is stopped, or nobody reads the results any more. Rejects if the first verification does. */
  async run(): Promise<void> {
    await this.#verify();
    await aborted(AbortSignal.any([this.#options.stop, this.#readerGone.signal]));
    await this.#watch.close();
  }

  async #verifyAgain(): Promise<void> {
    const { stop, onError } = this.#options;
    if (!stop.aborted) await this.#verify().catch(onError);
  }

  async #verify(): Promise<void> {
    const { verify, output, onWait, stop } = this.#options;
    const readAt = nodePlatform.time();
    const files = await verify();
    const isRead = await output.waitForReader(stop);
    if (!isRead) {
      this.#readerGone.abort();
      return;
    }

    // A scenario that is broken now may be mended by a file that it extended before.
    await this.#watch.followRead([...new Set([...this.#watch.files, ...files])], readAt);
    onWait();
  }
}
