import { keyVariable } from "../rules/api-key.js";
import { listed } from "../schema/words.js";
import type { KeyRequest } from "./client-run.js";
import type { Reason } from "./judgment.js";
import { requestOfEachTurn } from "./request-of-each-turn.js";
import { type ResendKind, waitAfterRejection } from "./resend-kinds.js";
import type { Runs, WhichRun } from "./runs.js";
import { runWithReplacement, type SteadyKey, whyCountVaries } from "./steady-key.js";

// A suspect is a kind of rejection after which the key came again. That may not be the client's doing: the suite may send the key more
// often by itself, the client may ask a second time while a response is late, or a single test may poll until it gets a 200. Runs of
// their own exclude each of these before a resend is named: plain runs, runs with a late response, and turns. A turn is a run that rejects
// another one of the requests with the key. One more must follow in each turn: a client that sends the key again does so everywhere.

/** How many requests are rejected in turn before a problem is named. */
const minTurns = 8;

/** How often a request is rejected again after which the next one came in time: a client with jitter comes too soon only sometimes. */
const maxMoreTurns = 3;

/** How much later than an early request a response comes that is only late, in milliseconds. */
const marginMs = 500;

/** A kind of rejection of the last request after which the key came again, in two runs. */
export interface Suspect {
  readonly kind: "suspect";
  readonly resendKind: ResendKind;
  /** The requests that must not have come, one of each run. */
  readonly requests: readonly KeyRequest[];
}

/** The end of a reason that begins with "KEY was sent again", and what to do. */
interface Doubt {
  readonly ending: string;
  readonly fix: string;
}

/** Makes the runs that exclude other reasons. Returns why suspects are not named, for those that are not. */
export async function whyUnproven(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
): Promise<ReadonlyMap<Suspect, Reason>> {
  const reasons = new Map<Suspect, Reason>();
  if (suspects.length === 0) return reasons;

  const countVaries = await whyCountVaries(runs, key);
  if (countVaries !== undefined) return new Map(suspects.map((suspect) => [suspect, countVaries]));

  for (const suspect of suspects) {
    if (!suspect.resendKind.isTimed) continue;
    const alsoLate = await whyAlsoIfLate(runs, key, suspect);
    if (alsoLate !== undefined) reasons.set(suspect, alsoLate);
  }

  // The others are one problem, with the same other reasons: a turn with one of them counts for all, and all get its reason.
  const others = suspects.filter((suspect) => !reasons.has(suspect));
  if (others.length === 0) return reasons;
  const notInEachTurn = await whyNotInEachTurn({ runs, key, suspects: others });
  if (notInEachTurn === undefined) return reasons;
  for (const suspect of others) reasons.set(suspect, notInEachTurn);
  return reasons;
}

/** Why early requests may come without a rejection, since the client does not wait for a late response; `undefined` if they do not. */
async function whyAlsoIfLate(runs: Runs, key: SteadyKey, suspect: Suspect): Promise<Reason | undefined> {
  const latest = Math.max(...suspect.requests.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const seconds = Math.ceil((latest + marginMs) / 1000);
  const late = await runWithReplacement(runs, key, "resend", { kind: "late", seconds });
  if (late.kind === "not_judged") return late.reason;
  if (late.extraRequests.length > 0) return whyUnconfirmed(key, suspect, alsoIfLate);
  if (late.run.result === "passed") return undefined;
  return whyUnconfirmed(key, suspect, failedIfLate);
}

/** What all turns have in common. */
interface Turns {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly suspects: readonly Suspect[];
}

/** A run that rejects one request with the key, as one of the suspects does. */
interface Turn {
  /** From 1. */
  readonly number: number;
  /** The number of the request with the key, from 1. */
  readonly request: number;
  readonly resendKind: ResendKind;
}

/** What a turn shows: one more request, which came too soon if it may come later; or a reason to doubt all suspects. */
type TurnResult =
  | { readonly kind: "resent" | "in_time" }
  | { readonly kind: "doubt"; readonly reason: Reason; readonly isSentAgain?: boolean };

/** Rejects the requests with the key in turn, and returns the first reason to doubt; `undefined` if one more request followed in each turn. */
async function whyNotInEachTurn(turns: Turns): Promise<Reason | undefined> {
  const { key, suspects } = turns;
  const requests = requestOfEachTurn(key.requestCount, Math.max(minTurns, suspects.length));
  const all = requests.map((request, at) => newTurn(turns, at + 1, request));

  // Of most suites in which only some tests ask again, the first half shows it.
  const resent = new Set<number>();
  const half = Math.ceil(all.length / 2);
  for (const part of [all.slice(0, half), all.slice(half)]) {
    const results = await Promise.all(part.map((turn) => takeTurn(turns, turn)));
    for (const [at, result] of results.entries()) {
      if (result.kind === "doubt") return result.reason;
      if (result.kind === "resent") resent.add((part[at] as Turn).request);
    }
  }

  const inTime = new Set(requests.filter((request) => !resent.has(request)));
  return whyInTimeAgain(turns, [...inTime], all.length);
}

/** The suspects take turns. When all requests have had one, each gets in the next round what the next suspect has. */
function newTurn({ key, suspects }: Turns, number: number, request: number): Turn {
  const round = Math.floor((number - 1) / key.requestCount);
  const place = (number - 1) % key.requestCount;
  const suspect = suspects[(round + place) % suspects.length] as Suspect; // there is one
  return { number, request, resendKind: suspect.resendKind };
}

/** Rejects the request of a turn: twice, if the command failed although one more request came. A flaky suite may do that by chance. */
async function takeTurn(turns: Turns, turn: Turn): Promise<TurnResult> {
  const first = await rejectRequest(turns, turn, "in turn");
  const isOpen = first.kind === "doubt" && first.isSentAgain;
  return isOpen ? rejectRequest(turns, turn, "in turn again") : first;
}

async function rejectRequest(turns: Turns, turn: Turn, series: WhichRun["series"]): Promise<TurnResult> {
  const { runs, key } = turns;
  const { number, request, resendKind } = turn;
  const settings = { request, nth: number, series, wait: waitAfterRejection(resendKind) };
  const replaced = await runWithReplacement(runs, key, resendKind.name, resendKind.rejection, settings);
  if (replaced.kind === "not_judged") return { kind: "doubt", reason: replaced.reason };

  const { run, extraRequests, isOneEarly } = replaced;
  const [next] = extraRequests;
  const when = `when its request ${request} of ${key.requestCount} got ${resendKind.responseWords}`;
  if (next === undefined) {
    const reason = whySentAgainBut(turns, { ending: `but not ${when}`, fix: turnOffSomePolls });
    return { kind: "doubt", reason };
  }
  if (run.result !== "passed") {
    const doubt = { ending: `but the command failed ${when}`, fix: turnOffSomePolls };
    return { kind: "doubt", reason: whySentAgainBut(turns, doubt), isSentAgain: true };
  }
  if (!resendKind.isTimed || isOneEarly) return { kind: "resent" };
  if (next.isElsewhere) return { kind: "doubt", reason: sentByOtherProcess };
  return { kind: "in_time" };
}

/** Rejects those requests again that were followed in time: a client with jitter may have done that by chance. `taken`: the number of turns before. */
async function whyInTimeAgain(
  turns: Turns,
  requests: readonly number[],
  taken: number,
): Promise<Reason | undefined> {
  let number = taken;
  for (const request of requests) {
    let isResent = false;
    for (let more = 0; more < maxMoreTurns && !isResent; more++) {
      number += 1;
      const result = await takeTurn(turns, newTurn(turns, number, request));
      if (result.kind === "doubt") return result.reason;
      isResent = result.kind === "resent";
    }
    if (isResent) continue;
    const ending = `but in time after its request ${request} of ${turns.key.requestCount}`;
    return whySentAgainBut(turns, { ending, fix: letPollsWait });
  }
  return undefined;
}

/** As in "SVC_KEY_ACTIVE was sent again (req_1), but not when its request 2 of 4 got a 401". */
function whySentAgainBut({ key, suspects }: Turns, { ending, fix }: Doubt): Reason {
  const ids = new Set(suspects.map(({ requests: [first] }) => first?.id ?? ""));
  const why = `${keyVariable(key.ref)} was sent again (${listed([...ids], "and")}), ${ending}`;
  return { why, whatToDo: fix };
}

/** As in "after a 401, SVC_KEY_ACTIVE was sent again (req_1), but only in some runs". The request is the first one that came too soon, if there is one. */
export function whyUnconfirmed(
  { ref }: SteadyKey,
  { resendKind: { isTimed, responseWords }, requests }: Pick<Suspect, "resendKind" | "requests">,
  { ending, fix }: Doubt,
): Reason {
  const early = isTimed ? requests.find(({ earlyMs }) => earlyMs !== undefined) : undefined;
  const named = early ?? requests[0];
  const later = early === undefined ? "" : `, ${early.earlyMs} ms later`;
  const why = `after ${responseWords}, ${keyVariable(ref)} was sent again (${named?.id}${later}), ${ending}`;
  return { why, whatToDo: fix };
}

export const sentByOtherProcess: Reason = {
  why: "another process of the command sent the key after the rejection, whose clock no run shows",
  whatToDo: "Send the key in tests of one process only.",
};

export const onlyInSomeRuns: Doubt = {
  ending: "but only in some runs",
  fix: "Find out what else it depends on, such as the order of tests. If your client waits at random, add to the time, never subtract from it.",
};

export const commandThenFailed: Doubt = {
  ending: "and the command then failed",
  fix: "Leave out what sends the key after a failed test, or what counts requests.",
};

const alsoIfLate: Doubt = {
  ending: "but also while a response was only late",
  fix: "Do not send a request a second time while the first one has no response.",
};

const failedIfLate: Doubt = {
  ending: "but the command failed while a response was only late",
  fix: "Wait longer for a response.",
};

const turnOffSomePolls =
  "If only some tests ask again, such as those that poll or that their runner repeats, turn that off.";

const letPollsWait =
  "If some calls ask again by themselves, such as a test that polls, let them wait as your client does.";
