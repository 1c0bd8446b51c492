import { stripVTControlCharacters } from "node:util";
import { redact } from "../../rules/keys/redact.js";

/** How many bytes of the output are kept. */
const maxTail = 64 * 1024;
/** The most characters of a line. */
const maxLine = 500;

/** The end of a command's output, as lines without keys and colors. */
export class OutputTail {
  #chunks: Buffer[] = [];
  #length = 0;
  /** Whether the start of the output is no longer kept. */
  #isCut = false;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length >= 2 * maxTail) this.#keepEnd();
  }

  lines(): string[] {
    this.#keepEnd();
    const text = Buffer.concat(this.#chunks).toString("utf8");
    const lines = stripVTControlCharacters(text).trimEnd().split(/\r?\n/);
    // The first line may have lost its start, and with that the prefix that shows a key.
    if (this.#isCut) lines.shift();
    // A character may have several units of its text, and none is cut.
    return lines.map((line) => [...redact(line)].slice(0, maxLine).join(""));
  }

  #keepEnd(): void {
    if (this.#length <= maxTail) return;
    this.#chunks = [Buffer.concat(this.#chunks).subarray(-maxTail)];
    this.#length = maxTail;
    this.#isCut = true;
  }
}
