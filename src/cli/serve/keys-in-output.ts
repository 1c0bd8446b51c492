import type { Runtime } from "../../sandbox/runtime.js";
import { unknownSecret } from "../../scenario/generated-values.js";
import { parseApiKey, randomLength, sandboxMark } from "../../spec/api-key.js";
import { findKeys } from "../../spec/redact.js";

/** The characters after the prefix; fewer are a placeholder. */
const realLength = 16;
/** A line without an end is searched in parts, which overlap by more than the length of a percent-encoded key. */
const [partLength, overlap] = [64 * 1024, 1024];

/** Finds the lines with full keys in a command's output, which arrives in chunks of any size. */
export function createKeyFinder({ world }: Pick<Runtime, "world">) {
  const streams = { stdout: { line: 1, rest: "" }, stderr: { line: 1, rest: "" } };
  const places = new Set<string>();
  const isFullKey = (key: string) => {
    const { seed, platform, registry } = world();
    const { prefix, marked } = parseApiKey(key) ?? {};
    if (prefix === undefined || key === unknownSecret(seed)) return false;
    const length = marked === true ? sandboxMark.length + randomLength : realLength;
    return key.length >= prefix.length + length || registry.find(platform.sha256(key)) !== undefined;
  };
  function search(name: keyof typeof streams, text: string): void {
    if (findKeys(text).some(isFullKey)) places.add(`${name}, line ${streams[name].line}`);
  }
  return {
    add(name: keyof typeof streams, chunk: Buffer): void {
      const stream = streams[name];
      const lines = (stream.rest + chunk.toString("latin1")).split("\n");
      stream.rest = lines.pop() as string;
      for (const line of lines) {
        search(name, line);
        stream.line += 1;
      }
      if (stream.rest.length < partLength) return;
      search(name, stream.rest);
      stream.rest = stream.rest.slice(-overlap);
    },
    /** Returns the stream and number of each line, after the command has ended. */
    places(): string[] {
      for (const name of ["stdout", "stderr"] as const) search(name, streams[name].rest);
      return [...places];
    },
  };
}
