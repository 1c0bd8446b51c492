import { nodePlatform, setTimeout } from "../../node/platform.js";
import type { Line } from "../../sandbox/line.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { SandboxSettings } from "../../sandbox/start.js";
import type { Followed, RedisConnection, WaitingCall } from "./redis-connection.js";

// A server runs a change on its copy of a sandbox, and then appends what has happened if its position is still the last. If not,
// the copy is loaded again, and the change runs again. Nobody hears of a change before it is stored.

export const noSandbox = Symbol("no sandbox");

export interface FollowOptions extends Omit<SandboxSettings, "platform"> {
  readonly id: string;
  /** Returns when it expires (epoch milliseconds), if that must be stored now; otherwise an empty text. */
  readonly expires?: () => string;
  /** Called if the sandbox is gone. Resolves to whether it exists again. */
  readonly onGone: () => Promise<boolean>;
}

/** What all sandboxes of a server share. */
export interface Shared {
  readonly connection: RedisConnection;
  /** Why Redis rejected the last line; `undefined` if it stored one. */
  rejection: { readonly reason: string; readonly isFull: boolean } | undefined;
  /** Called with a failure that no caller waits for. */
  readonly report: (error: unknown) => void;
}

/** A line that may be stored. */
export interface Flight {
  readonly tag: string;
  readonly line: Line;
  readonly characters: number;
  readonly hasSnapshot: boolean;
  readonly ran: readonly RanChange[];
  /** Whether its reply was lost: it may be stored. */
  isLost: boolean;
}

export interface RanChange {
  readonly call: WaitingCall;
  readonly finish: () => void;
}

interface KnownLine {
  readonly id: string;
  readonly requests: number;
  readonly characters: number;
}

export interface FollowedSandbox extends Followed {
  readonly options: FollowOptions;
  readonly shared: Shared;
  readonly state: SandboxState;
  /** The time of the copy, which stands still between changes and reads. */
  readonly moment: { now: number };
  /** The position of the last line that was applied. */
  position: string;
  /** Why a line could not be applied: since then, the copy is not the sandbox. */
  broken: unknown;
  isTurn: boolean;
  /** Whether it gives up its turn with the next call. */
  isLeaving: boolean;
  /** When another server last used the sandbox (on the stopwatch). */
  sharedAt: number;
  flight: Flight | undefined;
  /** What ran without a change, until the position is known to be the last. */
  checked: readonly RanChange[];
  commits: number;
  /** Whether the copy has more than is stored, until it is loaded again. */
  isStale: boolean;
  /** The tags of the lines that were loaded last. */
  tags: ReadonlySet<string>;
  /** The lines in the stream. */
  lines: KnownLine[];
  /** Since the snapshot. */
  sizes: { lines: number; characters: number; snapshot: number };
}

export function isDue({ state: { timeline, clock }, moment }: FollowedSandbox, time: number): boolean {
  return timeline.dueAt <= clock.now() + (clock.isFrozen() ? 0 : time - moment.now);
}

export function advance({ moment }: FollowedSandbox, time: number): void {
  moment.now = Math.max(moment.now, Math.floor(time));
}

// Servers that change one sandbox at once take turns. It only makes them fast: a line is stored if its position is the last.

/** Milliseconds: before a server that heard nothing asks again whether it is its turn, and after which others are gone. */
const turns = { pause: 50, shared: 1000 };

/** Whether a turn is over with these changes: they may be all of this server, and others use the sandbox. */
export function isOverSoon({ sharedAt }: FollowedSandbox, changes: readonly WaitingCall[]): boolean {
  return changes.length === 1 && nodePlatform.stopwatch() - sharedAt < turns.shared;
}

export function waitForTurn(sandbox: FollowedSandbox, changes: readonly WaitingCall[]): void {
  if (sandbox.paused !== undefined) {
    sandbox.paused.push(...changes);
    return;
  }
  const paused = [...changes];
  sandbox.paused = paused;
  setTimeout(() => {
    if (sandbox.paused === paused) askAgain(sandbox);
  }, turns.pause).unref();
}

function askAgain(sandbox: FollowedSandbox): void {
  const { paused = [], shared } = sandbox;
  sandbox.paused = undefined;
  shared.connection.enqueueAgain(sandbox, paused);
}

/** Another server gives up its turn, or waits for this one's: then it gives it up, unless the next line does that. */
export function onTurn(sandbox: FollowedSandbox): void {
  sandbox.sharedAt = nodePlatform.stopwatch();
  if (sandbox.paused !== undefined) askAgain(sandbox);
  const isNeeded = sandbox.flight !== undefined || sandbox.waiting.some(({ isChange }) => isChange);
  if (!sandbox.isTurn || isNeeded) return;
  sandbox.isTurn = false;
  sandbox.isLeaving = true;
  sandbox.shared.connection.callSoon(sandbox);
}
