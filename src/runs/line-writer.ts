import { LinesFile } from "./lines-file.js";
import { type Files, ownVersion, type RunLine } from "./run-folder.js";

/** Writes the lines of a process into the folder of its run. A request whose line cannot be written, as to a full disk, is counted in the file's name. */
export class LineWriter {
  readonly #processId: number;
  readonly #files: Files;
  readonly #file: LinesFile;
  /** Whether the file has the line with the version. */
  #hasVersionLine = false;
  /** Whether the last text may have been written in part, as to a full disk. */
  #isCut = false;
  /** Whether a failure has been reported. */
  #hasReported = false;

  constructor(folder: string, files: Files, processId: number) {
    this.#processId = processId;
    this.#files = files;
    this.#file = new LinesFile(folder, files, processId);
  }

  /** Writes the line with the version, if it is missing. */
  writeVersion(): void {
    if (!this.#hasVersionLine) this.#append(this.#versionLine());
  }

  /** Writes a line, after the one with the version. */
  write(line: RunLine): void {
    const text = `${JSON.stringify(line)}\n`;
    const isWritten = this.#append(this.#hasVersionLine ? text : this.#versionLine() + text);
    if (!isWritten && line.exchange !== undefined) this.#file.countMissing();
  }

  #versionLine(): string {
    return `${JSON.stringify({ version: ownVersion } satisfies RunLine)}\n`;
  }

  /** Returns whether the text was written. */
  #append(text: string): boolean {
    // After a text that may have been cut, a new line begins.
    const separated = this.#isCut ? `\n${text}` : text;
    const isWritten = this.tryOrReport(() => {
      this.#file.append(separated);
      return true;
    });
    this.#isCut = isWritten !== true;
    if (isWritten !== true) return false;
    this.#hasVersionLine = true;
    return true;
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
