import { type Files, linesFile, ownVersion, type RunLine } from "./run-folder.js";

/** Writes the lines of a process into the folder of its run. A request whose line cannot be written, as to a full disk, is counted in the file's name. */
export class LineWriter {
  readonly #folder: string;
  readonly #files: Files;
  readonly #processId: number;
  /** A process id may come again in another container. */
  readonly #id: string;
  #file: string;
  /** The requests without a line. */
  #missing = 0;
  /** Whether the line with the version is written. */
  #isStarted = false;
  /** Whether the last text may have been written in part, as to a full disk. */
  #isCut = false;
  /** Whether a failure has been reported. */
  #hasReported = false;

  constructor(folder: string, files: Files, processId: number) {
    this.#folder = folder;
    this.#files = files;
    this.#processId = processId;
    this.#id = `${processId}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
    this.#file = `${folder}/${linesFile(this.#id)}`;
  }

  /** Writes the line with the version, if it is missing. */
  writeVersion(): void {
    if (!this.#isStarted) this.#append(this.#versionLine());
  }

  /** Writes a line, after the one with the version. */
  write(line: RunLine): void {
    const text = `${JSON.stringify(line)}\n`;
    const isWritten = this.#append(this.#isStarted ? text : this.#versionLine() + text);
    if (!isWritten && line.exchange !== undefined) this.#countMissing();
  }

  #versionLine(): string {
    return `${JSON.stringify({ version: ownVersion } satisfies RunLine)}\n`;
  }

  /** Returns whether the text was written. */
  #append(text: string): boolean {
    // After a text that may have been cut, a new line begins.
    const separated = this.#isCut ? `\n${text}` : text;
    const isWritten = this.tryOrReport(() => {
      // Without a descriptor that stays open: some test runners load this module again for each file.
      this.#files.appendFileSync(this.#file, separated, { mode: 0o600 });
      return true;
    });
    this.#isCut = isWritten !== true;
    if (isWritten !== true) return false;
    this.#isStarted = true;
    return true;
  }

  /** Counts a request without a line, in the name of the file. */
  #countMissing(): void {
    this.#missing += 1;
    const file = `${this.#folder}/${linesFile(this.#id, this.#missing)}`;
    try {
      this.#files.renameSync(this.#file, file);
    } catch (error) {
      // A file that is not there yet gets this name with its first line.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") return;
    }
    this.#file = file;
  }

  /** Returns `undefined` for what fails, and reports the first failure. */
  tryOrReport<Result>(act: () => Result): Result | undefined {
    try {
      return act();
    } catch (error) {
      this.#reportOnce((error as Error).message);
      return undefined;
    }
  }

  /** Not as an error of the client: its response is right. */
  #reportOnce(message: string): void {
    if (this.#hasReported) return;
    this.#hasReported = true;
    try {
      this.#files.writeSync(
        2,
        `svc-sandbox could not count the requests of process ${this.#processId}: ${message}\n`,
      );
    } catch {
      // Nobody reads stderr.
    }
  }
}
