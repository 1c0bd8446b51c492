import { type Files, linesFileName } from "./run-folder.js";

/** The file of a process in the folder of its run. Its name has how many requests have no line. */
export class LinesFile {
  readonly #folder: string;
  readonly #files: Files;
  /** A process id may come again in another container. */
  readonly #id: string;
  /** The requests without a line. */
  #missing = 0;
  #path: string;

  constructor(folder: string, files: Files, processId: number) {
    this.#folder = folder;
    this.#files = files;
    this.#id = `${processId}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
    this.#path = `${folder}/${linesFileName(this.#id)}`;
  }

  /** Appends a text, and makes the file before the first one. Throws what the file system throws. */
  append(text: string): void {
    // Without a descriptor that stays open: some test runners load this module again for each file.
    this.#files.appendFileSync(this.#path, text, { mode: 0o600 });
  }

  /** Counts a request without a line, in the name of the file. */
  countMissing(): void {
    this.#missing += 1;
    const path = `${this.#folder}/${linesFileName(this.#id, this.#missing)}`;
    try {
      this.#files.renameSync(this.#path, path);
    } catch (error) {
      // A file that is not there yet gets this name with its first line.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") return;
    }
    this.#path = path;
  }
}
