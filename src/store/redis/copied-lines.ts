import { applyLine, type Line, requestsIn, requestsInJournal, tellLine } from "../../sandbox/line.js";
import { restoreSandbox } from "../../sandbox/start.js";
import type { FollowedSandbox } from "./followed-sandbox.js";
import { takeWaiting } from "./redis-connection.js";
import { brokenEntry } from "./redis-problems.js";
import { positionOf, type StoredLine } from "./redis-scripts.js";
import { type Loaded, nameOf } from "./stored-sandbox.js";

// Applies what is stored to the copy of a server.

/** Continues from a loaded sandbox; `isAgain`: its listeners hear of what they do not know. */
export function fill(
  sandbox: FollowedSandbox,
  { state: saved, position, lines, idGroup }: Loaded,
  isAgain: boolean,
): void {
  const { sandbox: state, moment, options, shared } = sandbox;
  const at = lines.findIndex((one) => positionOf(one) === position);
  const known = lines.findIndex((one) => positionOf(one) === sandbox.position);
  const isGap = isAgain && known === -1 && sandbox.position !== position;
  const last = isGap || !isAgain ? lines.length : known;
  if (isGap && isLost(sandbox.position, position)) {
    shared.connection.losses += 1;
    shared.connection.warn("has lost data: the sandbox starts again from the remaining data");
  }
  const parsed = lines.map((one) => parseLine(sandbox, one));
  if (parsed.includes(undefined)) return;
  const all = parsed as Line[];
  const before = all.slice(0, Math.min(at, last) + 1);
  const exchanges = [...saved.exchanges, ...requestsInJournal(before.flatMap(({ happened }) => happened))];
  const between = all.slice(before.length, at + 1).flatMap(({ happened }) => requestsIn(happened));
  const recorded = saved.recorded - between.filter(({ isProbe }) => !isProbe).length;
  moment.now = saved.at;
  restoreSandbox({ ...saved, exchanges, recorded }, state.platform, { ...options, idGroup }, state);
  state.idSeries.last = state.requestIds.series();
  sandbox.isStale = false;
  sandbox.tags = new Set(lines.map(([, [, , , tag]]) => tag));
  sandbox.lines = [];
  sandbox.sizes = { lines: 0, characters: 0, snapshot: JSON.stringify(saved).length };
  for (const [index, one] of lines.entries()) {
    const [, [, text]] = one;
    const line = all[index] as Line;
    const [isInSnapshot, isTold] = [index <= at, index < before.length];
    if (!isInSnapshot && !apply(sandbox, one, line)) return;
    if (!isTold) {
      state.history.hold();
      tellLine(state, line);
      release(sandbox, isAgain && index <= last);
    }
    const { sizes } = sandbox;
    onApplied(sandbox, positionOf(one), isInSnapshot ? { ...line, kept: undefined } : line, text.length);
    if (isInSnapshot) sandbox.sizes = { ...sizes, lines: 0, characters: 0 };
  }
  if (lines.length === 0 || at === lines.length - 1) sandbox.position = position;
  if (isGap) onGap(sandbox);
}

/** Whether a position that is not there was lost, and not only replaced by a later snapshot. */
function isLost(position: string, snapshot: string): boolean {
  const [isFirst, isOther] = [position.startsWith("0-"), snapshot.startsWith("0-")];
  if (isFirst && isOther) return position !== snapshot;
  return position.localeCompare(snapshot, "en", { numeric: true }) > 0;
}

// The lines in between are gone, so that the followers' events have a gap.
function onGap({ sandbox }: FollowedSandbox): void {
  const { history, name, seed } = sandbox;
  history.keep(Number.POSITIVE_INFINITY);
  history.emit({ type: "sandbox.started", scenario: name, seed });
}

function release({ sandbox, shared }: FollowedSandbox, isKnown: boolean): void {
  try {
    sandbox.history.release({ isKnown, isForeign: true });
  } catch (error) {
    shared.report(error);
  }
}

/** Applies the lines of other servers. Returns whether the copy is complete then; if not, it must be loaded. */
export function applyLines(sandbox: FollowedSandbox, lines: readonly StoredLine[]): boolean {
  for (const stored of lines) {
    const line = parseLine(sandbox, stored);
    if (line === undefined) return true;
    if (line.isWhole) return false;
    if (!apply(sandbox, stored, line)) return true;
    sandbox.sandbox.history.hold();
    tellLine(sandbox.sandbox, line);
    release(sandbox, false);
    onApplied(sandbox, positionOf(stored), line, stored[1][1].length);
  }
  return true;
}

function parseLine(sandbox: FollowedSandbox, one: StoredLine): Line | undefined {
  try {
    const line: Line = JSON.parse(one[1][1]);
    if (!Array.isArray(line.happened)) throw new Error("a line of another version");
    return line;
  } catch (error) {
    breakAt(sandbox, one, error);
    return undefined;
  }
}

function apply(sandbox: FollowedSandbox, one: StoredLine, line: Line): boolean {
  const { moment, sandbox: state } = sandbox;
  try {
    moment.now = Math.max(moment.now, line.at);
    applyLine(state, line);
    return true;
  } catch (error) {
    breakAt(sandbox, one, error);
    return false;
  }
}

function breakAt(sandbox: FollowedSandbox, one: StoredLine, error: unknown): void {
  breakBy(sandbox, error, `${one[0]} of `);
}

// What is stored stays, until a person decides.
export function breakBy(sandbox: FollowedSandbox, error: unknown, part = ""): void {
  const { options, shared } = sandbox;
  sandbox.broken = brokenEntry(shared.connection.shown, part + nameOf(options.id), error);
  shared.report(sandbox.broken);
  for (const waiting of takeWaiting(shared.connection, sandbox.waiting)) waiting.reject(sandbox.broken);
}

export function onApplied(sandbox: FollowedSandbox, position: string, line: Line, characters: number): void {
  const { sizes, sandbox: state } = sandbox;
  sandbox.position = position;
  const [id = ""] = position.split(" ");
  sandbox.lines.push({ id, characters, requests: requestsIn(line.happened).length });
  sizes.lines += 1;
  sizes.characters += characters;
  if (line.kept === undefined) return;
  state.history.keep(Number.POSITIVE_INFINITY, line.kept);
  let more = sandbox.lines.reduce((sum, { requests }) => sum + requests, 0) - line.kept;
  while (more > 0) more -= sandbox.lines.shift()?.requests ?? more;
  Object.assign(sizes, { lines: 0, characters: 0 });
}
