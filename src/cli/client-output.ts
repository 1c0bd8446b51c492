import { stripVTControlCharacters } from "node:util";
import { findBase64Keys, findKeys } from "../rules/keys/find-keys.js";
import { parseApiKey, randomLength, sandboxMark } from "../rules/keys/key-text.js";
import { redact } from "../rules/keys/redact.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { unknownSecret } from "../scenario/keys.js";

/** The length of the shortest real key, without its prefix. A shorter text is a placeholder. */
const minRealLength = 16;

/** A line that has not ended is searched when it has this length. */
const longestUnsearched = 64 * 1024;
/** How much of its end is kept then, because a key may start there. A percent-encoded key is shorter. */
const keptForKey = 1024;

/** Finds full keys in what a command prints. */
export class KeyFinder {
  readonly #sandbox: SandboxState;
  /** The current line of each output: its number, and its text so far. */
  readonly #streams = { stdout: { line: 1, rest: "" }, stderr: { line: 1, rest: "" } };
  readonly #places = new Set<string>();

  constructor(sandbox: SandboxState) {
    this.#sandbox = sandbox;
  }

  /** Searches output of the command, line by line. */
  add(name: "stdout" | "stderr", chunk: Buffer): void {
    const stream = this.#streams[name];
    const lines = (stream.rest + chunk.toString("latin1")).split("\n");
    stream.rest = lines.pop() as string;
    for (const line of lines) {
      this.#search(name, line);
      stream.line += 1;
    }
    if (stream.rest.length < longestUnsearched) return;
    this.#search(name, stream.rest);
    stream.rest = stream.rest.slice(-keptForKey);
  }

  /** Returns the lines with a key, as in `stdout, line 3`. A last line that has not ended is searched as well. */
  places(): string[] {
    for (const name of ["stdout", "stderr"] as const) this.#search(name, this.#streams[name].rest);
    return [...this.#places];
  }

  #search(name: "stdout" | "stderr", text: string): void {
    const keys = [...findKeys(text), ...findBase64Keys(text)];
    if (keys.length === 0) return;

    // A step of the timeline that is due may create one of these keys.
    runDue(this.#sandbox);
    for (const key of keys) {
      if (!isFullKey(key, this.#sandbox)) continue;
      this.#places.add(`${name}, line ${this.#streams[name].line}`);
      return;
    }
  }
}

/** Whether a text is a whole key, which may be real or is one of the sandbox: not the start of a key, and not a placeholder. */
function isFullKey(key: string, sandbox: SandboxState): boolean {
  const { seed, platform, registry } = sandbox;
  const parsed = parseApiKey(key);
  if (parsed === undefined || key === unknownSecret(seed)) return false;

  const fullLength = parsed.hasMark ? sandboxMark.length + randomLength : minRealLength;
  if (key.length >= parsed.prefix.length + fullLength) return true;
  // A scenario may pin a shorter key.
  return registry.find(platform.sha256(key)) !== undefined;
}

/** How many bytes of the output are kept: its end. */
const maxTail = 64 * 1024;
/** The length at which a line is cut, in characters. */
const maxLine = 500;

/** The end of a command's output, as lines without keys and colors. */
export class OutputTail {
  #bytes: Buffer = Buffer.alloc(0);
  /** Whether the start of the output is no longer kept. */
  #isCut = false;

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.#bytes.length <= maxTail) return;
    this.#bytes = this.#bytes.subarray(-maxTail);
    this.#isCut = true;
  }

  lines(): string[] {
    const text = stripVTControlCharacters(this.#bytes.toString("utf8"));
    const lines = text.trimEnd().split(/\r?\n/);
    // The first line may lack its start, and a key there its prefix: `redact` would not find it.
    if (this.#isCut) lines.shift();
    // Cuts between characters, never within one that has two UTF-16 units.
    return lines.map((line) => [...redact(line)].slice(0, maxLine).join(""));
  }
}
