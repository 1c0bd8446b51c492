import { useLayoutEffect, useState } from "preact/hooks";
import { type ControlError, call } from "./call.js";
import type { ControlData } from "./responses.js";
import { revision } from "./revision.js";

type Path = keyof ControlData;

/** The last response to a path, and why a later one is missing if it is. */
interface Answer<Data> {
  readonly data?: Data;
  readonly problem?: ControlError | undefined;
}

type Follower = (answer: Answer<never>) => void;

/** A path that somebody follows: it is read, and read again after each change of the sandbox. */
class FollowedPath {
  readonly followers = new Set<Follower>();
  /** `undefined` until the path is read. */
  lastAnswer: Answer<unknown> | undefined;
  /** Ends the reading. */
  readonly stop: () => void;
  readonly #path: string;
  #isReading = false;
  /** Whether something may have changed since the reading started. */
  #isStale = false;

  constructor(path: string) {
    this.#path = path;
    // A reading before the revision is known would have to be repeated.
    const readIfKnown = () => {
      if (revision.value !== undefined) void this.#read();
    };
    this.stop = revision.subscribe(readIfKnown);
    readIfKnown();
  }

  /** Reads the path until nothing has changed in between; one reading at a time. */
  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isStale) {
      this.#isStale = false;
      this.lastAnswer = await this.#ask();
      for (const follower of this.followers) this.tell(follower);
    }
    this.#isReading = false;
  }

  /** Hands the last answer to a follower. */
  tell(follower: Follower): void {
    // The types of the answer and the follower are those of the path.
    if (this.lastAnswer !== undefined) follower(this.lastAnswer as Answer<never>);
  }

  async #ask(): Promise<Answer<unknown>> {
    try {
      return { data: await call<unknown>(this.#path) };
    } catch (error) {
      const problem = error as ControlError;
      // What is gone is no longer shown. A sandbox that does not respond still has it.
      if (problem.code === "not_found") return { problem };
      return { ...this.lastAnswer, problem };
    }
  }
}

const followedPaths = new Map<string, FollowedPath>();

/** Hands over the answer to a path once it is read, and again after each change of the sandbox, until the returned function is called. */
export function follow<Of extends Path>(
  path: Of,
  follower: (answer: Answer<ControlData[Of]>) => void,
): () => void {
  const followed = followedPaths.get(path) ?? new FollowedPath(path);
  followedPaths.set(path, followed);
  followed.followers.add(follower);
  followed.tell(follower);
  return () => {
    followed.followers.delete(follower);
    if (followed.followers.size > 0) return;
    followed.stop();
    followedPaths.delete(path);
  };
}

/** The answer to a path, up to date while the component is shown. Until a new path is read, the answer to the earlier path stays. */
export function useData<Of extends Path>(path: Of | undefined): Answer<ControlData[Of]> {
  const [answer, setAnswer] = useState<Answer<ControlData[Of]>>({});
  // Before the first painting, which may be late, so that the response arrives earlier.
  useLayoutEffect(() => {
    if (path === undefined) return setAnswer({});
    return follow(path, setAnswer);
  }, [path]);
  return answer;
}
