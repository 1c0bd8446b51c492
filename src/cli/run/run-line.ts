import type { RunLine } from "../../runs/run-folder.js";
import { requestShape } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { findMismatches } from "../../schema/check.js";
import * as s from "../../schema/shape.js";

// What the control plane shows of a request, but for two fields that it makes from others of an exchange.
const { unread: _unread, source: _source, ...exchangeFields } = requestShape.fields;

/** An exchange in a line: what the control plane shows of a request, and what else counts and the report need. */
const exchangeShape = s.openMapping({
  ...exchangeFields,
  number: s.number(),
  at: s.number(),
  fromStory: s.flag(),
  isProbe: s.flag(),
  isMisdirected: s.flag(),
  leaksRealKey: s.flag(),
  presented: s.choice(["missing", "malformed", "well_formed"]),
  traits: s.list(s.text()),
  operation: s.orNull(s.text()),
  keptHeaders: s.list(s.text()),
  response: s.openMapping({ status: s.number(), headers: s.list(s.text()), body: s.text() }),
  // The keys that its advice is about, by the ids of advice.
  keysOfAdvice: s.optional(s.openMapping({})),
});
const traceShape = s.openMapping({ points: s.list(s.openMapping({})), scenario: s.text() });

/** A line that a sandbox has written: its first one has the version, each other one an exchange or a request whose response was not read. */
const lineShape = s.openMapping({
  version: s.optional(s.text()),
  exchange: s.optional(exchangeShape),
  trace: s.optional(traceShape),
  // The id of a request whose response was not read to its end.
  unread: s.optional(s.text()),
});

/** The line of a sandbox as it was read. Throws if no sandbox writes such a line. */
export function checkedLine(line: unknown): RunLine {
  const [mismatch] = findMismatches(lineShape, line);
  if (mismatch !== undefined) throw new Error(`a line has no valid ${mismatch.path || "content"}`);
  return line as RunLine; // it has the shape
}

/** Counts the request of a line in the server's own sandbox, and adds it to the journal, as if this sandbox had got it. */
export function countLine({ counters, journal }: SandboxState, line: RunLine): void {
  const { exchange, trace, unread } = line;
  if (unread !== undefined) counters.countUnread(unread);
  if (exchange === undefined) return;
  counters.count(exchange, trace);
  journal.record(exchange);
}
