import { nodePlatform } from "../../node/platform.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { Platform } from "../../sandbox/sandbox.js";
import { restoreSandbox } from "../../sandbox/start.js";
import { applyLines, breakBy, fill, onApplied } from "./copied-lines.js";
import { runWaiting, send } from "./flight.js";
import {
  advance,
  type Flight,
  type FollowedSandbox,
  type FollowOptions,
  isDue,
  noSandbox,
  type RanChange,
  type Shared,
} from "./followed-sandbox.js";
import {
  type AppendReply,
  callSoon,
  enqueue,
  enqueueAgain,
  type Followed,
  leaveCopy,
  storeUnavailable,
  takeWaiting,
  type Waiting,
} from "./redis-connection.js";
import { isFullness, reasonOf } from "./redis-problems.js";
import { positionOf } from "./redis-scripts.js";
import { type Loaded, loadSandbox } from "./stored-sandbox.js";
import { waitForTurn } from "./turns.js";

export function followSandbox(loaded: Loaded, options: FollowOptions, shared: Shared): FollowedSandbox {
  const [hash, stream] = shared.connection.keys.of(options.id);
  const moment = { now: loaded.state.at };
  const sandbox: FollowedSandbox = {
    options,
    shared,
    moment,
    keys: [hash, stream],
    sandbox: restoreSandbox(loaded.state, platformAt(moment), { ...options, idGroup: loaded.idGroup }),
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
    mustSend: () => sandbox.flight !== undefined || sandbox.isLeaving,
    send: (own) => send(sandbox, own),
    onReply: (...reply) => onReply(sandbox, ...reply),
    onLost: (own, error) => onLost(sandbox, own, error),
  };
  fill(sandbox, loaded, false);
  return sandbox;
}

function platformAt(moment: { readonly now: number }): Platform {
  const time = () => moment.now;
  return { ...nodePlatform, time, steadyTime: time };
}

/** Runs a change; resolves to its outcome once it is stored, or to `noSandbox`. It may run more than once. */
export function changeSandbox(sandbox: FollowedSandbox, run: () => unknown): Promise<unknown> {
  return push(sandbox, true, run);
}

/** Resolves to what `read` returns after applying everything that any server has acknowledged, or to `noSandbox`. */
export function lookAt(sandbox: FollowedSandbox, read?: () => unknown): Promise<unknown> {
  return push(sandbox, false, (time) => {
    if (read === undefined) return undefined;
    if (isDue(sandbox, time)) {
      return changeSandbox(sandbox, () => {
        runDue(sandbox.sandbox);
        return read();
      });
    }
    advance(sandbox, time);
    return read();
  });
}

function push(sandbox: FollowedSandbox, isChange: boolean, run: (time: number) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { connection, rejection } = sandbox.shared;
    if (sandbox.broken !== undefined) return reject(sandbox.broken);
    // A probe shows when it has room again.
    if (isChange && rejection?.isFull === true) return reject(storeUnavailable(connection, rejection.reason));
    enqueue(connection, sandbox, { isChange, run, resolve, reject });
  });
}

function onReply(sandbox: FollowedSandbox, ...[reply, own, time]: Parameters<Followed["onReply"]>): void {
  const { checked } = sandbox;
  const [state, id, , turn] = reply;
  sandbox.checked = [];
  if (state === "broken") {
    breakBy(sandbox, new Error(id));
    for (const call of takeWaiting(sandbox.shared.connection, own)) call.reject(sandbox.broken);
  } else if (state === "rejected" || state === "format") {
    onRejected(sandbox, reply, own);
  } else if (state !== "ok") {
    loadAgain(sandbox, own);
  } else if (id !== "") {
    sandbox.isTurn = turn !== "";
    commit(sandbox, id);
    read(sandbox, own, time);
  } else onNothingStored(sandbox, reply, own, time, checked);
}

/** Applies what other servers have stored, and ends what has changed nothing. Changes run again, or when it is their turn. */
function onNothingStored(
  sandbox: FollowedSandbox,
  [, , between, turn]: AppendReply,
  own: readonly Waiting[],
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
    loadAgain(sandbox, own);
    return;
  }
  if (sandbox.broken !== undefined) {
    for (const call of takeWaiting(shared.connection, own)) call.reject(sandbox.broken);
    return;
  }
  if (others.length === 0) finishAll(sandbox, checked);
  else Object.assign(sandbox, { isTurn: false, sharedAt: nodePlatform.stopwatch() });
  if (turn !== "") sandbox.isTurn = true;
  read(sandbox, own, time);
  const changes = own.filter((one) => one.isChange && shared.connection.awaited.has(one));
  if (changes.length === 0) return;
  if (sandbox.isTurn) enqueueAgain(shared.connection, sandbox, changes);
  else waitForTurn(sandbox, changes);
}

function finishAll({ shared }: FollowedSandbox, ran: readonly RanChange[]): void {
  for (const { one, finish } of ran) if (takeWaiting(shared.connection, [one]).length > 0) finish();
}

function read({ shared }: FollowedSandbox, own: readonly Waiting[], time: number): void {
  const reads = own.filter(({ isChange }) => !isChange);
  for (const call of takeWaiting(shared.connection, reads)) runWaiting(call, time)();
}

function commit(sandbox: FollowedSandbox, position: string): void {
  const { shared, sandbox: state } = sandbox;
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
  finishAll(sandbox, ran);
}

function onRejected(sandbox: FollowedSandbox, [state, why]: AppendReply, own: readonly Waiting[]): void {
  const { shared } = sandbox;
  const { connection } = shared;
  const error = new Error(why);
  leaveCopy(connection, error);
  const reason =
    state === "format" ? `it has this sandbox in format ${why}, of another version` : reasonOf(error);
  if (state === "rejected" && shared.rejection === undefined)
    connection.warn(`rejects writes: ${reason}. Requests that it cannot store get 503 until it accepts them`);
  if (state === "rejected") shared.rejection = { reason, isFull: isFullness(error) };
  const isOver = ({ isChange }: Waiting) => isChange || state === "format";
  for (const call of takeWaiting(connection, own.filter(isOver)))
    call.reject(storeUnavailable(connection, reason));
  loadAgain(
    sandbox,
    own.filter((one) => !isOver(one)),
  );
}

// Whether the line is stored will be known with the next reply.
function onLost(sandbox: FollowedSandbox, own: readonly Waiting[], error: unknown): void {
  const { connection } = sandbox.shared;
  sandbox.checked = [];
  const isOfFlight = (one: Waiting) => sandbox.flight?.ran.some((ran) => ran.one === one) === true;
  for (const call of takeWaiting(
    connection,
    own.filter((one) => !isOfFlight(one)),
  ))
    call.reject(storeUnavailable(connection, reasonOf(error)));
  if (sandbox.flight === undefined) return;
  sandbox.flight.isLost = true;
  callSoon(connection, sandbox);
}

/** Loads the copy again, and lets what was not stored wait for the rest of its time. */
async function loadAgain(sandbox: FollowedSandbox, own: readonly Waiting[]): Promise<void> {
  const { shared, flight } = sandbox;
  const { connection } = shared;
  const ran = flight?.ran ?? [];
  const unknown = flight?.isLost ? ran : [];
  const waits = new Set(ran.map(({ one }) => one).concat(own));
  for (const { one } of unknown) waits.delete(one);
  if (flight !== undefined) {
    sandbox.sandbox.history.drop();
    sandbox.isStale = true;
  }
  sandbox.flight = undefined;
  sandbox.isTurn = false;
  sandbox.loading ??= reload(sandbox).finally(() => {
    sandbox.loading = undefined;
  });
  const isThere = await sandbox.loading.catch((error) => {
    for (const call of takeWaiting(connection, [...waits])) call.reject(error);
  });
  // Nobody runs again what may be stored.
  for (const { one, finish } of unknown)
    if (takeWaiting(connection, [one]).length > 0)
      sandbox.tags.has(flight?.tag ?? "") ? finish() : one.reject(storeUnavailable(connection));
  if (sandbox.broken !== undefined)
    for (const call of takeWaiting(connection, [...waits])) call.reject(sandbox.broken);
  if (isThere === false) for (const call of takeWaiting(connection, [...waits])) call.resolve(noSandbox);
  // Those that got an outcome no longer wait.
  enqueueAgain(connection, sandbox, [...waits]);
}

async function reload(sandbox: FollowedSandbox): Promise<boolean> {
  const { options, shared } = sandbox;
  const { connection } = shared;
  const loaded = await loadSandbox(connection, options.id);
  if (loaded === undefined || "ended" in loaded) return (await options.onGone()) ? reload(sandbox) : false;
  fill(sandbox, loaded, true);
  return true;
}
