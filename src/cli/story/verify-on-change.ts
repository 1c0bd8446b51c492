import { nodePlatform } from "../../node/platform.js";
import { aborted } from "../io.js";
import type { Printer } from "../output/terminal.js";
import { type FileReading, FileWatch } from "../serve/file-watch.js";

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
    const readAt = nodePlatform.time();
    const { files, onFollowed } = await this.#verify();
    await this.#watch.start(files, readAt);
    onFollowed();
    await aborted(AbortSignal.any([this.#options.stop, this.#readerGone.signal]));
    await this.#watch.close();
  }

  async #verifyAgain(): Promise<FileReading> {
    const { files } = this.#watch;
    if (this.#options.stop.aborted) return { files, onFollowed() {} };
    try {
      const reading = await this.#verify();
      // A scenario that is broken now may be mended by a file that it extended before.
      return { ...reading, files: [...files, ...reading.files] };
    } catch (error) {
      return { files, onFollowed: () => this.#options.onError(error) };
    }
  }

  async #verify(): Promise<FileReading> {
    const { verify, output, onWait, stop } = this.#options;
    const files = await verify();
    const isRead = await output.waitForReader(stop);
    if (isRead) return { files, onFollowed: onWait };
    return { files, onFollowed: () => this.#readerGone.abort() };
  }
}
