import { useLayoutEffect, useState } from "preact/hooks";
import { type ControlError, call } from "./call.js";
import type { ControlData } from "./responses.js";
import { revision } from "./revision.js";

type Path = keyof ControlData;

/** The last response to a path, and why a later one is missing. */
interface Answer<Data> {
  readonly data?: Data;
  readonly problem?: ControlError | undefined;
}

type Follower = (answer: Answer<never>) => void;

/** What is known of a path that somebody follows. */
interface Followed {
  lastAnswer: Answer<unknown>;
  readonly followers: Set<Follower>;
  /** Ends the reading after each change. */
  readonly stop: () => void;
}

/** Neither a response nor a problem has arrived. */
const noAnswer = {};

const followedPaths = new Map<string, Followed>();

/** Hands over the answer to a path, and again after each change of the sandbox, until the returned function is called. */
export function follow<Of extends Path>(
  path: Of,
  follower: (answer: Answer<ControlData[Of]>) => void,
): () => void {
  const followed = followedPaths.get(path) ?? startFollowing(path);
  const { followers } = followed;
  followers.add(follower);
  follower(followed.lastAnswer as Answer<ControlData[Of]>);
  return () => {
    followers.delete(follower);
    if (followers.size > 0) return;
    followed.stop();
    followedPaths.delete(path);
  };
}

function startFollowing(path: string): Followed {
  const followers = new Set<Follower>();
  let isReading = false;
  let isStale = false;
  const read = async () => {
    isStale = true;
    if (isReading) return;
    isReading = true;
    // Something may have changed since the reading started.
    while (isStale) {
      isStale = false;
      try {
        followed.lastAnswer = { data: await call<unknown>(path) };
      } catch (error) {
        const problem = error as ControlError;
        // What is gone is no longer shown. A sandbox that does not respond still has it.
        const kept = problem.code === "not_found" ? noAnswer : followed.lastAnswer;
        followed.lastAnswer = { ...kept, problem };
      }
      for (const follower of followers) follower(followed.lastAnswer as Answer<never>);
    }
    isReading = false;
  };

  // A reading before the revision is known would have to be repeated.
  const readIfKnown = () => {
    if (revision.value !== undefined) void read();
  };
  const stop = revision.subscribe(readIfKnown);
  const followed: Followed = { lastAnswer: noAnswer, followers, stop };
  followedPaths.set(path, followed);
  readIfKnown();
  return followed;
}

/** The answer to a path, up to date while the component is shown. For a new path, the earlier one stays until it or a problem arrives. */
export function useData<Of extends Path>(path: Of | undefined): Answer<ControlData[Of]> {
  const [answer, setAnswer] = useState<Answer<ControlData[Of]>>(noAnswer);
  // Before the first painting, which may be late, so that the response arrives earlier.
  useLayoutEffect(() => {
    if (path === undefined) return setAnswer(noAnswer);
    return follow(path, (next) => {
      if (next !== noAnswer) setAnswer(next);
    });
  }, [path]);
  return answer;
}
