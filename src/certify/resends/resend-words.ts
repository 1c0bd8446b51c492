import { keyVariable } from "../../rules/keys/key-text.js";
import type { Reason } from "../checks/judgment.js";
import { type KeyRequest, passedMsIfTooEarly } from "../client-runs/client-run.js";
import type { WorkingKey } from "./replaced-run.js";
import type { ResendKind } from "./resend-kinds.js";

// The reasons why a resend that was seen is not judged.

/** The end of a reason that begins with "KEY was sent again", and what to do. */
export interface DoubtWords {
  readonly ending: string;
  readonly fix: string;
}

/** As in "after a 401, SVC_KEY_ACTIVE was sent again (req_1), but only in some runs". The request is the first one that came too soon, if there is one. */
export function doubtOfKind(
  { ref }: WorkingKey,
  { isTimed, responseWords }: ResendKind,
  requests: readonly KeyRequest[],
  { ending, fix }: DoubtWords,
): Reason {
  const early = isTimed ? requests.find((request) => passedMsIfTooEarly(request) !== undefined) : undefined;
  const named = early ?? requests[0];
  const later = early === undefined ? "" : `, ${passedMsIfTooEarly(early)} ms later`;
  const why = `after ${responseWords}, ${keyVariable(ref)} was sent again (${named?.id}${later}), ${ending}`;
  return { why, whatToDo: fix };
}

export const sentByOtherProcess: Reason = {
  why: "another process of the command sent the key after the rejection, whose clock no run shows",
  whatToDo: "Send the key in tests of one process only.",
};

export const onlyInSomeRuns: DoubtWords = {
  ending: "but only in some runs",
  fix: "Find out what else it depends on, such as the order of tests. If your client waits at random, add to the time, never subtract from it.",
};

export const commandThenFailed: DoubtWords = {
  ending: "and the command then failed",
  fix: "Leave out what sends the key after a failed test, or what counts requests.",
};

export const alsoIfLate: DoubtWords = {
  ending: "but also while a response was only late",
  fix: "Do not send a request a second time while the first one has no response.",
};

export const failedIfLate: DoubtWords = {
  ending: "but the command failed while a response was only late",
  fix: "Wait longer for a response.",
};

export const turnOffSomePolls =
  "If only some tests ask again, such as those that poll or that their runner repeats, turn that off.";

export const letPollsWait =
  "If some calls ask again by themselves, such as a test that polls, let them wait as your client does.";
