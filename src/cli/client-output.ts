import { stripVTControlCharacters } from "node:util";
import { findBase64Keys, findKeys } from "../rules/keys/find-keys.js";
import { parseApiKey, randomLength, sandboxMark } from "../rules/keys/key-text.js";
import { redact } from "../rules/keys/redact.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { unknownSecret } from "../scenario/keys.js";

/** The shortest real key, without its prefix; what is shorter is a placeholder. */
const minRealLength = 16;

/** A line without an end is searched once this much of it has come. */
const longestUnsearched = 64 * 1024;
/** What is kept of such a line: a key may have begun there. No percent-encoded key is as long. */
const keptForKey = 1024;

/** Finds full keys in what a command prints. */
export class KeyFinder {
  readonly #sandbox: SandboxState;
  /** For each output the number of the current line, and what has come of it. */
  readonly #streams = { stdout: { line: 1, rest: "" }, stderr: { line: 1, rest: "" } };
  readonly #places = new Set<string>();

  constructor(sandbox: SandboxState) {
    this.#sandbox = sandbox;
  }

  /** Searches what the command has printed, line by line. */
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

  /** The lines with a key, also in the last one without an end: `stdout, line 3`. */
  places(): string[] {
    for (const name of ["stdout", "stderr"] as const) this.#search(name, this.#streams[name].rest);
    return [...this.#places];
  }

  #search(name: "stdout" | "stderr", text: string): void {
    const keys = [...findKeys(text), ...findBase64Keys(text)];
    if (keys.length === 0) return;

    // A step of the timeline that is due by now may have created one of them.
    runDue(this.#sandbox);
    for (const key of keys) {
      if (!isFullKey(key, this.#sandbox)) continue;
      this.#places.add(`${name}, line ${this.#streams[name].line}`);
      return;
    }
  }
}

/** Whether a text is a whole key that may be real or is one of the sandbox, and not the start of one or a placeholder. */
function isFullKey(key: string, sandbox: SandboxState): boolean {
  const { seed, platform, registry } = sandbox;
  const parsed = parseApiKey(key);
  if (parsed === undefined || key === unknownSecret(seed)) return false;

  const fullLength = parsed.hasMark ? sandboxMark.length + randomLength : minRealLength;
  if (key.length >= parsed.prefix.length + fullLength) return true;
  // A scenario may set a shorter one.
  return registry.find(platform.sha256(key)) !== undefined;
}

/** How many bytes of the output are kept. */
const maxTail = 64 * 1024;
/** The most characters of a line. */
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
    // The first line may have lost its start, and with that the prefix that shows a key.
    if (this.#isCut) lines.shift();
    // A character may have several units of its text, and none is cut.
    return lines.map((line) => [...redact(line)].slice(0, maxLine).join(""));
  }
}
