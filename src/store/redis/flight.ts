import {
  describeLine,
  hasHappened,
  isBeyondLine,
  type Line,
  markOf,
  requestsIn,
} from "../../sandbox/line.js";
import { describeSandbox } from "../../sandbox/start.js";
import { advance, type FollowedSandbox, type RanChange } from "./followed-sandbox.js";
import { redisTime, type Waiting } from "./redis-connection.js";
import { isOverSoon } from "./turns.js";

// Runs changes on the copy, and makes the line that is appended.

/** The snapshot is replaced after this many lines or characters, or later if it is larger. */
const replacedAfter = { lines: 256, characters: 64_000 };
/** The requests of the journal when the snapshot is replaced: at least so many, or about so many characters. */
const keptJournal = { requests: 100, characters: 100_000 };

export function send(sandbox: FollowedSandbox, own: readonly Waiting[]): readonly string[] {
  const { shared, options, flight } = sandbox;
  const position = sandbox.isStale ? "0-0 stale" : sandbox.position;
  const changes = own.filter(({ isChange }) => isChange);
  const expires = options.expires?.() ?? "";
  const leaves = sandbox.isLeaving ? "1" : "";
  sandbox.isLeaving = false;
  if (flight !== undefined || changes.length === 0) return [position, expires, leaves, "", "", "", "", ""];
  if (!sandbox.isTurn || sandbox.isStale) return [position, expires, leaves, "1", "", "", "", ""];
  const { sandbox: state } = sandbox;
  const before = markOf(state);
  state.history.hold();
  advance(sandbox, redisTime(shared.connection));
  const ran = changes.map((one) => ({ one, finish: runWaiting(one, sandbox.moment.now) }));
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
  const line = stored(sandbox, describeLine(state, happened, before), tag, ran);
  return [position, expires, isOver, "", tag, ...line];
}

/** Returns the text of a line, a snapshot if it needs one, and the first line that stays then. */
function stored(
  sandbox: FollowedSandbox,
  line: Line,
  tag: string,
  ran: readonly RanChange[],
): readonly string[] {
  const { sandbox: state, sizes } = sandbox;
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
export function runWaiting(one: Waiting, time: number): () => void {
  try {
    const outcome = one.run(time);
    // Its caller may no longer wait.
    if (outcome instanceof Promise) outcome.catch(() => {});
    return () => one.resolve(outcome);
  } catch (error) {
    return () => one.reject(error);
  }
}
