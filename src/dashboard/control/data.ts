import { useLayoutEffect, useState } from "preact/hooks";
import { type ControlError, call, disconnect, needsToken, ownChanges, revision, whyOffline } from "./call.js";
import type { ControlData } from "./responses.js";
import { Shared } from "./shared.js";

// What the page shows of the sandbox is up to date. Each second it asks for the revision: once that differs, it reads all that it
// shows again, and otherwise only what it has not read yet. The revision is asked for first, so that no data is older than it.

/** The time between two looks at the revision, in milliseconds. */
const pauseMs = 1000;

type Path = keyof ControlData;

/** What was read of a path last, and why later data is missing if it is. */
interface Reading<Data> {
  readonly data?: Data;
  readonly problem?: ControlError | undefined;
}

type Follower = (reading: Reading<unknown>) => void;

interface FollowedPath {
  readonly followers: Set<Follower>;
  /** `undefined` until the path is read. */
  last: Reading<unknown> | undefined;
}

const followedPaths = new Map<string, FollowedPath>();

/** Ends the present pause, or the next one. */
let wake = () => {};

/** How many groups of calls the page shows only once they have ended. */
let unfinishedGroups = 0;

/** Makes several calls, after which the page changes once. */
export async function showAtEnd(calls: () => Promise<void>): Promise<void> {
  unfinishedGroups += 1;
  try {
    await calls();
  } finally {
    unfinishedGroups -= 1;
    wake();
  }
}

/** Keeps what is followed up to date while the page is visible, as long as it is open. */
export async function keepUpToDate(): Promise<void> {
  document.addEventListener("visibilitychange", () => wake());
  ownChanges.subscribe(() => wake());
  needsToken.subscribe(() => wake());
  for (;;) {
    // It begins before the reading, because what happens meanwhile is news.
    const pause = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // Nobody sees a hidden page, and nothing is returned until a token is entered.
    if (!document.hidden && !needsToken.value && unfinishedGroups === 0) {
      await readNews();
      setTimeout(wake, pauseMs);
    }
    await pause;
  }
}

/** Reads what may have changed, and what was not read yet. */
async function readNews(): Promise<void> {
  try {
    const latest = await call<unknown>("/revision");
    // A proxy may respond with JSON of its own.
    if (typeof latest !== "string") throw new Error("Another server responds here.");
    const isNews = latest !== revision.value;
    revision.value = latest;
    whyOffline.value = undefined;

    const readings: Promise<void>[] = [];
    for (const [path, followed] of followedPaths) {
      if (isNews || followed.last === undefined) readings.push(read(path, followed));
    }
    await Promise.all(readings);
  } catch (error) {
    // The form for the token says why.
    disconnect(needsToken.value ? undefined : (error as Error).message);
  }
}

/** Reads a path, and hands over its data, or the problem with the data from before. */
async function read(path: string, followed: FollowedPath): Promise<void> {
  let reading: Reading<unknown>;
  try {
    reading = { data: await call(path) };
  } catch (error) {
    const problem = error as ControlError;
    // What is gone is no longer shown.
    const isGone = problem.code === "not_found";
    reading = isGone ? { problem } : { ...followed.last, problem };
  }
  followed.last = reading;
  for (const follower of followed.followers) follower(reading);
}

/** Hands over what is read of a path, now and after each change of the sandbox, until the returned function is called. */
export function follow<Of extends Path>(
  path: Of,
  follower: (reading: Reading<ControlData[Of]>) => void,
): () => void {
  const followed = followedPaths.get(path) ?? { followers: new Set(), last: undefined };
  const { followers, last } = followed;
  const ofAnyData = follower as Follower; // the data of this path has the follower's type
  followers.add(ofAnyData);
  followedPaths.set(path, followed);
  if (last === undefined) wake();
  else ofAnyData(last);
  return () => {
    followers.delete(ofAnyData);
    if (followers.size === 0) followedPaths.delete(path);
  };
}

/** What was read of a path, up to date while the component is shown. Until a new path is read, the data of the earlier one stays. */
export function useData<Of extends Path>(path: Of | undefined): Reading<ControlData[Of]> {
  const [reading, setReading] = useState<Reading<ControlData[Of]>>({});
  // Before the first painting, which may be late, so that the response arrives earlier.
  useLayoutEffect(() => {
    if (path === undefined) return setReading({});
    return follow(path, setReading);
  }, [path]);
  return reading;
}

/** The time of the sandbox's clock in epoch milliseconds, updated every second while the sandbox responds. */
export const now = new Shared(Number.NaN);

/** The clock as it was read last; `undefined` while it is unknown. */
let clock: ControlData["/clock"] | undefined;
/** When it was read, on the page's own clock. */
let readAt = 0;

function tick(): void {
  // The time of a sandbox that does not respond is unknown.
  if (clock === undefined || revision.value === undefined) return;
  now.value = Date.parse(clock.now) + (clock.frozen ? 0 : performance.now() - readAt);
}

follow("/clock", ({ data }) => {
  clock = data;
  readAt = performance.now();
  tick();
});
setInterval(tick, 1000);
