import { copyText } from "./copy-text.js";
import { redact } from "./redact.js";

// The headers of a request that the journal keeps, without keys: who sent it, and what the client accepts.

const keptNames: readonly string[] = ["user-agent", "accept", "content-type", "traceparent"];
const longestKeptValue = 200;

/** The latest values without a key: a client repeats them, and to read them again would take 3% to 7% of a request. */
const latestPlainValues: string[] = [];

/** Adds the name and the value of a header to those that are kept, if it is one of them. `name` is in lower case. */
export function addKeptHeader(keptHeaders: string[], name: string, value: string): void {
  if (keptNames.includes(name)) keptHeaders.push(name, keptValue(value));
}

/** The value of a header without keys, and not too long. */
function keptValue(value: string): string {
  if (latestPlainValues.includes(value)) return value;
  const kept = copyText(redact(value).slice(0, longestKeptValue));
  if (kept === value) {
    latestPlainValues.unshift(kept);
    if (latestPlainValues.length > keptNames.length) latestPlainValues.pop();
  }
  return kept;
}
