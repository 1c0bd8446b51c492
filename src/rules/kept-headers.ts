import { copyText } from "./copy-text.js";
import { redact } from "./redact.js";

// The headers of a request that the journal keeps, without keys: who sent it, what the client accepts and sends, and its trace.

const keptNames: readonly string[] = ["user-agent", "accept", "content-type", "traceparent"];
const longestKeptValue = 200;

/** Whether a header is kept, by its name in lower case. */
export function isKeptHeader(name: string): boolean {
  return keptNames.includes(name);
}

/** The latest values without a key. A client repeats them, and to search each for keys again takes 5% of a request. */
const latestPlainValues: string[] = [];

/** The value of a header without keys, and not too long. */
export function keptValue(value: string): string {
  if (latestPlainValues.includes(value)) return value;

  const kept = copyText(redact(value).slice(0, longestKeptValue));
  if (kept === value) {
    latestPlainValues.unshift(kept);
    if (latestPlainValues.length > keptNames.length) latestPlainValues.pop();
  }
  return kept;
}
