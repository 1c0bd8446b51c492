import { nodePlatform } from "../../node/platform.js";
import {
  applyLine,
  describeLine,
  hasHappened,
  isBeyondLine,
  type Line,
  markOf,
  requestsIn,
  requestsInJournal,
  tellLine,
} from "../../sandbox/line.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { Platform } from "../../sandbox/sandbox.js";
import { describeSandbox, restoreSandbox } from "../../sandbox/start.js";
import {
  advance,
  type Flight,
  type FollowedSandbox,
  type FollowOptions,
  isDue,
  isOverSoon,
  noSandbox,
  type RanChange,
  type Shared,
  waitForTurn,
} from "./followed-sandbox.js";
import {
  type AppendReply,
  brokenEntry,
  type Followed,
  isFullness,
  reasonOf,
  type WaitingCall,
} from "./redis-connection.js";
import { positionOf, type StoredLine } from "./redis-scripts.js";
import { type Loaded, loadSandbox, nameOf } from "./stored-sandbox.js";

export function followSandbox(loaded: Loaded, options: FollowOptions, shared: Shared): FollowedSandbox {
  const [hash, stream] = shared.connection.keys.of(options.id);
  const moment = { now: loaded.state.at };
  const sandbox: FollowedSandbox = {
    options,
    shared,
    moment,
    keys: [hash, stream],
    state: restoreSandbox(loaded.state, platformAt(moment), { ...options, idGroup: loaded.idGroup }),
    position: "",
    broken: undefined,
    isTurn: false,
    isLeaving: false,
    sharedAt: Number.NEGATIVE_INFINITY,
    flight: undefined,
    checked: [],
    commits: 0,
    isStale: false,
    tags: new Set(),
    lines: [],
    sizes: { lines: 0, characters: 0, snapshot: 0 },
    loading: undefined,
    waiting: [],
    paused: undefined,
    mustCall: () => sandbox.flight !== undefined || sandbox.isLeaving,
    argumentsFor: (calls) => argumentsFor(sandbox, calls),
    onReply: (...reply) => onReply(sandbox, ...reply),
    onLost: (calls, error) => onLost(sandbox, calls, error),
  };
  continueFrom(sandbox, loaded, false);
  return sandbox;
}

function platformAt(moment: { readonly now: number }): Platform {
  const time = () => moment.now;
  return { ...nodePlatform, time, steadyTime: time };
}

/** Runs a change; resolves to its outcome once it is stored, or to `noSandbox`. It may run more than once. */
export function changeSandbox(sandbox: FollowedSandbox, run: () => unknown): Promise<unknown> {
  return enqueue(sandbox, true, run);
}

/** Resolves to what `read` returns after applying everything that any server has acknowledged, or to `noSandbox`. */
export function lookAt(sandbox: FollowedSandbox, read?: () => unknown): Promise<unknown> {
  return enqueue(sandbox, false, (time) => {
    if (read === undefined) return undefined;
    if (isDue(sandbox, time)) {
      return changeSandbox(sandbox, () => {
        runDue(sandbox.state);
        return read();
      });
    }
    advance(sandbox, time);
    return read();
  });
}

function enqueue(
  sandbox: FollowedSandbox,
  isChange: boolean,
  run: (time: number) => unknown,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { connection, rejection } = sandbox.shared;
    if (sandbox.broken !== undefined) return reject(sandbox.broken);
    // A probe shows when it has room again.
    if (isChange && rejection?.isFull === true) return reject(connection.unavailable(rejection.reason));
    connection.enqueue(sandbox, { isChange, run, resolve, reject });
  });
}

function onReply(sandbox: FollowedSandbox, ...[reply, calls, time]: Parameters<Followed["onReply"]>): void {
  const { checked } = sandbox;
  const [state, id, , turn] = reply;
  sandbox.checked = [];
  if (state === "broken") {
    breakBy(sandbox, new Error(id));
    sandbox.shared.connection.rejectAll(calls, sandbox.broken);
  } else if (state === "rejected" || state === "format") {
    onRejected(sandbox, reply, calls);
  } else if (state !== "ok") {
    loadAgain(sandbox, calls);
  } else if (id !== "") {
    sandbox.isTurn = turn !== "";
    commit(sandbox, id);
    runReads(sandbox, calls, time);
  } else onNothingStored(sandbox, reply, calls, time, checked);
}

/** Applies what other servers have stored, and ends what has changed nothing. Changes run again, or when it is their turn. */
function onNothingStored(
  sandbox: FollowedSandbox,
  [, , between, turn]: AppendReply,
  calls: readonly WaitingCall[],
  time: number,
  checked: readonly RanChange[],
): void {
  const { shared, flight } = sandbox;
  const [first] = between;
  if (flight !== undefined && first?.[1][3] === flight.tag) commit(sandbox, positionOf(first));
  // Nothing can be before it: its position was the last. So it is not stored.
  else if (flight !== undefined) flight.isLost = false;
  const others = sandbox.position === (first && positionOf(first)) ? between.slice(1) : between;
  if (sandbox.flight !== undefined || !applyLines(sandbox, others)) {
    loadAgain(sandbox, calls);
    return;
  }
  if (sandbox.broken !== undefined) {
    shared.connection.rejectAll(calls, sandbox.broken);
    return;
  }
  if (others.length === 0) resolveAll(sandbox, checked);
  else Object.assign(sandbox, { isTurn: false, sharedAt: nodePlatform.stopwatch() });
  if (turn !== "") sandbox.isTurn = true;
  runReads(sandbox, calls, time);
  const changes = calls.filter((call) => call.isChange && shared.connection.isAwaited(call));
  if (changes.length === 0) return;
  if (sandbox.isTurn) shared.connection.enqueueAgain(sandbox, changes);
  else waitForTurn(sandbox, changes);
}

function resolveAll({ shared }: FollowedSandbox, ran: readonly RanChange[]): void {
  for (const { call, finish } of ran) if (shared.connection.takeAwaited([call]).length > 0) finish();
}

function runReads({ shared }: FollowedSandbox, calls: readonly WaitingCall[], time: number): void {
  const reads = calls.filter(({ isChange }) => !isChange);
  for (const call of shared.connection.takeAwaited(reads)) runCall(call, time)();
}

function commit(sandbox: FollowedSandbox, position: string): void {
  const { shared, state } = sandbox;
  const { line, characters, hasSnapshot, ran } = sandbox.flight as Flight;
  sandbox.flight = undefined;
  if (shared.rejection !== undefined) shared.connection.note("accepts writes again");
  shared.rejection = undefined;
  onApplied(sandbox, position, line, characters);
  if (hasSnapshot) Object.assign(sandbox.sizes, { lines: 0, characters: 0 });
  try {
    state.history.release();
  } catch (error) {
    shared.report(error);
  }
  resolveAll(sandbox, ran);
}

function onRejected(
  sandbox: FollowedSandbox,
  [state, why]: AppendReply,
  calls: readonly WaitingCall[],
): void {
  const { shared } = sandbox;
  const { connection } = shared;
  const error = new Error(why);
  connection.leaveCopy(error);
  const reason =
    state === "format" ? `it has this sandbox in format ${why}, of another version` : reasonOf(error);
  if (state === "rejected" && shared.rejection === undefined)
    connection.warn(`rejects writes: ${reason}. Requests that it cannot store get 503 until it accepts them`);
  if (state === "rejected") shared.rejection = { reason, isFull: isFullness(error) };
  const isOver = ({ isChange }: WaitingCall) => isChange || state === "format";
  connection.rejectAll(calls.filter(isOver), connection.unavailable(reason));
  loadAgain(
    sandbox,
    calls.filter((call) => !isOver(call)),
  );
}

// Whether the line is stored will be known with the next reply.
function onLost(sandbox: FollowedSandbox, calls: readonly WaitingCall[], error: unknown): void {
  const { connection } = sandbox.shared;
  sandbox.checked = [];
  const isOfFlight = (call: WaitingCall) => sandbox.flight?.ran.some((ran) => ran.call === call) === true;
  connection.rejectAll(
    calls.filter((call) => !isOfFlight(call)),
    connection.unavailable(reasonOf(error)),
  );
  if (sandbox.flight === undefined) return;
  sandbox.flight.isLost = true;
  connection.callSoon(sandbox);
}

/** Loads the copy again, and lets what was not stored wait for the rest of its time. */
async function loadAgain(sandbox: FollowedSandbox, calls: readonly WaitingCall[]): Promise<void> {
  const { shared, flight } = sandbox;
  const { connection } = shared;
  const ran = flight?.ran ?? [];
  const unknown = flight?.isLost ? ran : [];
  const waits = new Set(ran.map(({ call }) => call).concat(calls));
  for (const { call } of unknown) waits.delete(call);
  if (flight !== undefined) {
    sandbox.state.history.drop();
    sandbox.isStale = true;
  }
  sandbox.flight = undefined;
  sandbox.isTurn = false;
  sandbox.loading ??= reload(sandbox).finally(() => {
    sandbox.loading = undefined;
  });
  const isThere = await sandbox.loading.catch((error) => {
    connection.rejectAll([...waits], error);
  });
  // Nobody runs again what may be stored.
  for (const { call, finish } of unknown)
    if (connection.takeAwaited([call]).length > 0)
      sandbox.tags.has(flight?.tag ?? "") ? finish() : call.reject(connection.unavailable());
  if (sandbox.broken !== undefined) connection.rejectAll([...waits], sandbox.broken);
  if (isThere === false) for (const call of connection.takeAwaited([...waits])) call.resolve(noSandbox);
  // Those that got an outcome no longer wait.
  connection.enqueueAgain(sandbox, [...waits]);
}

async function reload(sandbox: FollowedSandbox): Promise<boolean> {
  const { options, shared } = sandbox;
  const { connection } = shared;
  const loaded = await loadSandbox(connection, options.id);
  if (loaded === undefined || "ended" in loaded) return (await options.onGone()) ? reload(sandbox) : false;
  continueFrom(sandbox, loaded, true);
  return true;
}

// Applies what is stored to the copy of a server.

/** Continues from a loaded sandbox; `isAgain`: its listeners hear of what they do not know. */
function continueFrom(
  sandbox: FollowedSandbox,
  { state: saved, position, lines, idGroup }: Loaded,
  isAgain: boolean,
): void {
  const { state, moment, options, shared } = sandbox;
  const at = lines.findIndex((stored) => positionOf(stored) === position);
  const known = lines.findIndex((stored) => positionOf(stored) === sandbox.position);
  const isGap = isAgain && known === -1 && sandbox.position !== position;
  const last = isGap || !isAgain ? lines.length : known;
  if (isGap && isLost(sandbox.position, position)) {
    shared.connection.losses += 1;
    shared.connection.warn("has lost data: the sandbox starts again from the remaining data");
  }
  const parsed = lines.map((stored) => parseLine(sandbox, stored));
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
  for (const [index, stored] of lines.entries()) {
    const [, [, text]] = stored;
    const line = all[index] as Line;
    const [isInSnapshot, isTold] = [index <= at, index < before.length];
    if (!isInSnapshot && !apply(sandbox, stored, line)) return;
    if (!isTold) {
      state.history.hold();
      tellLine(state, line);
      release(sandbox, isAgain && index <= last);
    }
    const { sizes } = sandbox;
    onApplied(sandbox, positionOf(stored), isInSnapshot ? { ...line, kept: undefined } : line, text.length);
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
function onGap({ state }: FollowedSandbox): void {
  const { history, name, seed } = state;
  history.keep(Number.POSITIVE_INFINITY);
  history.emit({ type: "sandbox.started", scenario: name, seed });
}

function release({ state, shared }: FollowedSandbox, isKnown: boolean): void {
  try {
    state.history.release({ isKnown, isForeign: true });
  } catch (error) {
    shared.report(error);
  }
}

/** Applies the lines of other servers. Returns whether the copy is complete then; if not, it must be loaded. */
function applyLines(sandbox: FollowedSandbox, lines: readonly StoredLine[]): boolean {
  for (const stored of lines) {
    const line = parseLine(sandbox, stored);
    if (line === undefined) return true;
    if (line.isWhole) return false;
    if (!apply(sandbox, stored, line)) return true;
    sandbox.state.history.hold();
    tellLine(sandbox.state, line);
    release(sandbox, false);
    onApplied(sandbox, positionOf(stored), line, stored[1][1].length);
  }
  return true;
}

function parseLine(sandbox: FollowedSandbox, stored: StoredLine): Line | undefined {
  try {
    const line: Line = JSON.parse(stored[1][1]);
    if (!Array.isArray(line.happened)) throw new Error("a line of another version");
    return line;
  } catch (error) {
    breakAt(sandbox, stored, error);
    return undefined;
  }
}

function apply(sandbox: FollowedSandbox, stored: StoredLine, line: Line): boolean {
  const { moment, state } = sandbox;
  try {
    moment.now = Math.max(moment.now, line.at);
    applyLine(state, line);
    return true;
  } catch (error) {
    breakAt(sandbox, stored, error);
    return false;
  }
}

function breakAt(sandbox: FollowedSandbox, stored: StoredLine, error: unknown): void {
  breakBy(sandbox, error, `${stored[0]} of `);
}

// What is stored stays, until a person decides.
function breakBy(sandbox: FollowedSandbox, error: unknown, part = ""): void {
  const { options, shared } = sandbox;
  sandbox.broken = brokenEntry(shared.connection.shown, part + nameOf(options.id), error);
  shared.report(sandbox.broken);
  shared.connection.rejectAll(sandbox.waiting, sandbox.broken);
}

function onApplied(sandbox: FollowedSandbox, position: string, line: Line, characters: number): void {
  const { sizes, state } = sandbox;
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

// Runs changes on the copy, and makes the line that is appended.

/** The snapshot is replaced after this many lines or characters, or later if it is larger. */
const replacedAfter = { lines: 256, characters: 64_000 };
/** The requests of the journal when the snapshot is replaced: at least so many, or about so many characters. */
const keptJournal = { requests: 100, characters: 100_000 };

function argumentsFor(sandbox: FollowedSandbox, calls: readonly WaitingCall[]): readonly string[] {
  const { shared, options, flight } = sandbox;
  const position = sandbox.isStale ? "0-0 stale" : sandbox.position;
  const changes = calls.filter(({ isChange }) => isChange);
  const expires = options.expires?.() ?? "";
  const leaves = sandbox.isLeaving ? "1" : "";
  sandbox.isLeaving = false;
  if (flight !== undefined || changes.length === 0) return [position, expires, leaves, "", "", "", "", ""];
  if (!sandbox.isTurn || sandbox.isStale) return [position, expires, leaves, "1", "", "", "", ""];
  const { state } = sandbox;
  const before = markOf(state);
  state.history.hold();
  advance(sandbox, shared.connection.time());
  const ran = changes.map((call) => ({ call, finish: runCall(call, sandbox.moment.now) }));
  const happened = state.history.held();
  const isOver = isOverSoon(sandbox, changes) ? "1" : "";
  if (!hasHappened(state, happened, before)) {
    state.history.drop();
    sandbox.checked = ran;
    sandbox.isTurn = isOver === "";
    return [position, expires, isOver, "", "", "", "", ""];
  }
  sandbox.commits += 1;
  const tag = `${shared.connection.server}.${sandbox.commits}`;
  const line = lineToAppend(sandbox, describeLine(state, happened, before), tag, ran);
  return [position, expires, isOver, "", tag, ...line];
}

/** Returns the text of a line, a snapshot if it needs one, and the first line that stays then. */
function lineToAppend(
  sandbox: FollowedSandbox,
  line: Line,
  tag: string,
  ran: readonly RanChange[],
): readonly string[] {
  const { state, sizes } = sandbox;
  const isWhole = isBeyondLine(line.happened);
  const max = Math.max(replacedAfter.characters, sizes.snapshot);
  const hasSnapshot = isWhole || sizes.lines >= replacedAfter.lines || sizes.characters >= max;
  const { first, kept } = hasSnapshot ? cutOf(sandbox, line) : { first: "", kept: undefined };
  const whole: Line = { ...line, ...(isWhole && { isWhole }), ...(kept !== undefined && { kept }) };
  const text = JSON.stringify(whole);
  const snapshot = hasSnapshot ? JSON.stringify({ ...describeSandbox(state), exchanges: [] }) : "";
  if (hasSnapshot) sizes.snapshot = snapshot.length;
  sandbox.flight = { tag, line: whole, characters: text.length, hasSnapshot, ran, isLost: false };
  return [text, snapshot, first];
}

function cutOf({ lines }: FollowedSandbox, { happened }: Line) {
  let requests = requestsIn(happened).length;
  let characters = 0;
  for (const line of lines.toReversed()) {
    requests += line.requests;
    characters += line.characters;
    if (requests >= keptJournal.requests || characters >= keptJournal.characters)
      return { first: line.id, kept: requests };
  }
  return { first: "", kept: undefined };
}

/** Runs a change, and returns what tells its caller the outcome. */
function runCall(call: WaitingCall, time: number): () => void {
  try {
    const outcome = call.run(time);
    // Its caller may no longer wait.
    if (outcome instanceof Promise) outcome.catch(() => {});
    return () => call.resolve(outcome);
  } catch (error) {
    return () => call.reject(error);
  }
}
