import { useLayoutEffect, useState } from "preact/hooks";
import {
  type ControlError,
  type ControlJson,
  call,
  dataOf,
  disconnect,
  needsToken,
  ownChanges,
  revision,
  whyOffline,
} from "./call.js";
import type { ControlData } from "./responses.js";
import { Shared } from "./shared.js";

// What the page shows of the sandbox is up to date: one call each second reads all of it, once anything has changed.
//
// | the page                                  | asks                          | and gets                                  |
// |-------------------------------------------|-------------------------------|-------------------------------------------|
// | shows what it has not read yet            | for that                      | that                                      |
// | knows no revision, such as after a failure | for all that it shows         | all                                       |
// | otherwise                                 | for all, with the revision    | all, or nothing if the revision is the same |

/** The shortest time between two calls, in milliseconds. */
const pauseMs = 1000;

/** After this many milliseconds, a server without a response hangs or is unreachable. */
const longestSilenceMs = 10_000;

type Path = keyof ControlData;

/** What was read of a path last, and why later data is missing if it is. */
interface Reading<Data> {
  readonly data?: Data;
  readonly problem?: ControlError | undefined;
}

type Follower = (reading: Reading<unknown>) => void;

/** What is read of each path that somebody follows. */
class FollowedPath {
  readonly followers = new Set<Follower>();
  /** `undefined` until the path is read. */
  last: Reading<unknown> | undefined;

  show(reading: Reading<unknown>): void {
    this.last = reading;
    for (const follower of this.followers) follower(reading);
  }
}

const followedPaths = new Map<string, FollowedPath>();

/** Ends the present sleep. */
let wake = () => {};

/** Keeps what is followed up to date while the page is visible, as long as it is open. */
export async function keepUpToDate(): Promise<void> {
  document.addEventListener("visibilitychange", () => wake());
  ownChanges.subscribe(() => wake());
  needsToken.subscribe(() => wake());
  for (;;) {
    // Nobody sees a hidden page, and nothing is returned until a token is entered.
    while (document.hidden || needsToken.value) await sleepUntilWoken();

    const changesBefore = ownChanges.value;
    const isCurrent = await readChanges();

    // What this page has changed in between is news, and so is what it shows only now.
    const hasChanged = changesBefore !== ownChanges.value;
    const isAllRead = [...followedPaths.values()].every(({ last }) => last !== undefined);
    const hasNews = hasChanged || !isAllRead || !isCurrent;
    if (!hasNews || revision.value === undefined) await sleepUntilWoken(pauseMs);
  }
}

/** Reads what may have changed. Returns whether all that was read before is of the same revision. */
async function readChanges(): Promise<boolean> {
  const known = revision.value;
  const all = [...followedPaths.keys()];
  const unread = all.filter((path) => followedPaths.get(path)?.last === undefined);
  const isAboutAll = known === undefined || unread.length === 0;

  const query = new URLSearchParams({ paths: (isAboutAll ? all : unread).join(" ") });
  if (isAboutAll && known !== undefined) query.set("revision", known);
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), longestSilenceMs);
  try {
    const changes = await call<Changes>(`/changes?${query}`, { signal: silence.signal });
    if (typeof changes.revision !== "string") throw otherServer;
    whyOffline.value = undefined;
    // What was not asked for may be older than this revision.
    if (isAboutAll) revision.value = changes.revision;
    for (const [path, json] of Object.entries(changes.responses)) showResponse(path, json);
    return revision.value === changes.revision;
  } catch (error) {
    // The form for the token says why.
    disconnect(needsToken.value ? undefined : (error as Error).message);
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** A proxy may respond with JSON of its own. */
const otherServer = new Error("Another server responds here.");

interface Changes {
  readonly revision: string;
  readonly responses: Readonly<Record<string, ControlJson>>;
}

function showResponse(path: string, json: ControlJson): void {
  const followed = followedPaths.get(path);
  if (followed === undefined) return;
  let reading: Reading<unknown>;
  try {
    reading = { data: dataOf(json) };
  } catch (error) {
    reading = { ...followed.last, problem: error as ControlError };
    // What is gone is no longer shown.
    if (json.error?.code === "not_found") reading = { problem: reading.problem };
  }
  followed.show(reading);
}

/** Sleeps until somebody comes back to the page, changes something there or enters a token, at most for this time. */
function sleepUntilWoken(mostMs?: number): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
    if (mostMs !== undefined) setTimeout(resolve, mostMs);
  });
}

/** Hands over what is read of a path, now and after each change of the sandbox, until the returned function is called. */
export function follow<Of extends Path>(
  path: Of,
  follower: (reading: Reading<ControlData[Of]>) => void,
): () => void {
  let followed = followedPaths.get(path);
  if (followed === undefined) {
    followed = new FollowedPath();
    followedPaths.set(path, followed);
    wake();
  }
  const { followers, last } = followed;
  const ofAnyData = follower as Follower; // the data of this path has the follower's type
  followers.add(ofAnyData);
  if (last !== undefined) ofAnyData(last);
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
