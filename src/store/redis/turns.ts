import { nodePlatform, setTimeout } from "../../node/platform.js";
import type { FollowedSandbox } from "./followed-sandbox.js";
import { callSoon, enqueueAgain, type Waiting } from "./redis-connection.js";

// Servers that change one sandbox at once take turns. It only makes them fast: a line is stored if its position is the last.

/** Milliseconds: before a server that heard nothing asks again whether it is its turn, and after which others are gone. */
const turns = { pause: 50, shared: 1000 };

/** Whether a turn is over with these changes: they may be all of this server, and others use the sandbox. */
export function isOverSoon({ sharedAt }: FollowedSandbox, changes: readonly Waiting[]): boolean {
  return changes.length === 1 && nodePlatform.stopwatch() - sharedAt < turns.shared;
}

export function waitForTurn(sandbox: FollowedSandbox, changes: readonly Waiting[]): void {
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
  enqueueAgain(shared.connection, sandbox, paused);
}

/** Another server gives up its turn, or waits for this one's: then it gives it up, unless the next line does that. */
export function onTurn(sandbox: FollowedSandbox): void {
  sandbox.sharedAt = nodePlatform.stopwatch();
  if (sandbox.paused !== undefined) askAgain(sandbox);
  const isNeeded = sandbox.flight !== undefined || sandbox.waiting.some(({ isChange }) => isChange);
  if (!sandbox.isTurn || isNeeded) return;
  sandbox.isTurn = false;
  sandbox.isLeaving = true;
  callSoon(sandbox.shared.connection, sandbox);
}
