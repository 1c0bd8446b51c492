import { useLayoutEffect, useState } from "preact/hooks";
import { type ControlError, call } from "./call.js";
import { revision } from "./connection.js";
import type { ControlData } from "./responses.js";

type Path = keyof ControlData;

/** What was read of a path last, and why later data is missing if it is. */
interface Reading<Data> {
  readonly data?: Data;
  readonly problem?: ControlError | undefined;
}

type Follower = (reading: Reading<unknown>) => void;

/** A path that somebody follows: it is read, and read again after each change of the sandbox. */
class FollowedPath {
  readonly followers = new Set<Follower>();
  /** `undefined` until the path is read. */
  lastReading: Reading<unknown> | undefined;
  readonly #path: string;
  #isAsking = false;
  /** Whether something may have changed since the last question. */
  #isStale = false;

  /** Ends the following. */
  readonly stop = revision.subscribe(() => void this.#readAgain());

  constructor(path: string) {
    this.#path = path;
    void this.#readAgain();
  }

  /** Reads the path until nothing has changed in between; one question at a time. */
  async #readAgain(): Promise<void> {
    // A reading before the revision is known would have to be repeated.
    if (revision.value === undefined) return;
    this.#isStale = true;
    if (this.#isAsking) return;

    this.#isAsking = true;
    while (this.#isStale) {
      this.#isStale = false;
      this.lastReading = await this.#ask();
      for (const follower of this.followers) follower(this.lastReading);
    }
    this.#isAsking = false;
  }

  async #ask(): Promise<Reading<unknown>> {
    try {
      return { data: await call<unknown>(this.#path) };
    } catch (error) {
      const problem = error as ControlError;
      // What is gone is no longer shown. A sandbox that does not respond still has it.
      if (problem.code === "not_found") return { problem };
      return { ...this.lastReading, problem };
    }
  }
}

const followedPaths = new Map<string, FollowedPath>();

/** Hands over what is read of a path, now and after each change of the sandbox, until the returned function is called. */
export function follow<Of extends Path>(
  path: Of,
  follower: (reading: Reading<ControlData[Of]>) => void,
): () => void {
  const followed = followedPaths.get(path) ?? new FollowedPath(path);
  followedPaths.set(path, followed);
  const ofAnyData = follower as Follower; // the data of this path has the follower's type
  followed.followers.add(ofAnyData);
  if (followed.lastReading !== undefined) ofAnyData(followed.lastReading);
  return () => {
    followed.followers.delete(ofAnyData);
    if (followed.followers.size > 0) return;
    followed.stop();
    followedPaths.delete(path);
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
