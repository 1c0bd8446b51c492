import { variableOf } from "../rules/api-key.js";
import { listed } from "../rules/schema/words.js";
import type { KeyRequest } from "./client-run.js";
import type { Reason } from "./judgment.js";
import { type ResendKind, waitAfter } from "./resend-kinds.js";
import type { Runs, WhichRun } from "./runs.js";
import { runReplacing, type SteadyKey, whyUnequal } from "./steady-key.js";

/** A kind of rejection of the last request after which the key came again, twice: other runs show whether the client sent it. */
export interface Suspect {
  readonly kind: "suspect";
  readonly ofKind: ResendKind;
  /** The requests that must not have come, one of each run. */
  readonly requests: readonly KeyRequest[];
}

/**
 * Why suspects are not named, for those that are not: the key comes more often by itself, or also while a response is only late, or
 * not after each request. The suspects are one problem with the same other reasons, so that a run with one of them counts for all.
 */
export async function whyUnproven(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
): Promise<ReadonlyMap<Suspect, Reason>> {
  const reasons = new Map<Suspect, Reason>();
  if (suspects.length === 0) return reasons;
  const unequal = await whyUnequal(runs, key);
  if (unequal !== undefined) return new Map(suspects.map((suspect) => [suspect, unequal]));

  for (const suspect of suspects) {
    const late = suspect.ofKind.when === "too_soon" ? await whyLate(runs, key, suspect) : undefined;
    if (late !== undefined) reasons.set(suspect, late);
  }
  const others = suspects.filter((suspect) => !reasons.has(suspect));
  if (others.length === 0) return reasons;

  const doubt = await doubtInTurn(runs, key, others);
  if (doubt === undefined) return reasons;
  // One reason for all, which is one line.
  const reason =
    "why" in doubt ? doubt : { why: `${sentAgain(key, others)}, ${doubt.what}`, whatToDo: doubt.fix };
  for (const suspect of others) reasons.set(suspect, reason);
  return reasons;
}

/** As in "SVC_KEY_ACTIVE was sent again (req_1)". */
function sentAgain({ ref }: SteadyKey, suspects: readonly Suspect[]): string {
  const ids = new Set(suspects.map(({ requests: [first] }) => first?.id ?? ""));
  return `${variableOf(ref)} was sent again (${listed([...ids], "and")})`;
}

/** How much later than an early request a response comes that is only late. */
const marginMs = 500;

/** Why early requests may come without a rejection; `undefined` if they do not. */
async function whyLate(runs: Runs, key: SteadyKey, suspect: Suspect): Promise<Reason | undefined> {
  const latest = Math.max(...suspect.requests.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const seconds = Math.ceil((latest + marginMs) / 1000);
  const late = await runReplacing(runs, key, "resend", { kind: "late", seconds });
  if (late.kind === "not_judged") return late.reason;
  if (late.extra.length > 0) return unconfirmed(key, suspect, alsoLate);
  if (late.run.result === "passed") return undefined;
  return unconfirmed(key, suspect, failedLate);
}

/** How many requests are rejected in turn before a problem is named. */
const minTurns = 8;

/** How often a request is rejected again after which the next one came in time: a client with jitter comes too soon only sometimes. */
const maxAgain = 3;

/** The request of each turn, from 1: from the first to the last, at even distances. Fewer than there are turns come again. */
export function turnsOf(count: number, turns: number): number[] {
  const requests: number[] = [];
  const distance = (count - 1) / (turns - 1);
  for (let turn = 0; turn < turns; turn++) {
    if (count <= turns) requests.push(1 + (turn % count));
    else requests.push(1 + Math.round(turn * distance));
  }
  return requests;
}

/** What one run shows against all suspects. */
interface Doubt {
  readonly what: string;
  readonly fix: string;
}

/** A run that rejects one request with the key, as one of the suspects does. */
interface Turn {
  /** From 1. */
  readonly number: number;
  /** The number of the request, from 1. */
  readonly request: number;
  readonly kind: ResendKind;
}

/** What a turn shows: one more request, too soon if it may come later, or a reason to doubt all suspects. */
type TurnResult =
  | { readonly kind: "resent" | "in_time" }
  | { readonly kind: "doubt"; readonly doubt: Doubt | Reason; readonly isSentAgain?: boolean };

/** Rejects each request in turn. If nothing follows one of them, those that are followed may be the ones that a test asks for again. */
async function doubtInTurn(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
): Promise<Doubt | Reason | undefined> {
  const requests = turnsOf(key.count, Math.max(minTurns, suspects.length));
  const turns = requests.map((request, at) => turnOf(at + 1, request, key, suspects));

  // Of most suites in which only some tests ask again, the first half shows it.
  const resent = new Set<number>();
  const half = Math.ceil(turns.length / 2);
  for (const part of [turns.slice(0, half), turns.slice(half)]) {
    const results = await Promise.all(part.map((turn) => take(turn, runs, key)));
    for (const [at, result] of results.entries()) {
      if (result.kind === "doubt") return result.doubt;
      if (result.kind === "resent") resent.add((part[at] as Turn).request);
    }
  }

  const inTime = new Set(requests.filter((request) => !resent.has(request)));
  return doubtInTime(runs, key, suspects, [...inTime], turns.length);
}

/** Rejects those again that were followed in time: a client with jitter may have done that by chance. `taken`: the number of turns before. */
async function doubtInTime(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
  requests: readonly number[],
  taken: number,
): Promise<Doubt | Reason | undefined> {
  let number = taken;
  for (const request of requests) {
    let isResent = false;
    for (let again = 0; again < maxAgain && !isResent; again++) {
      number += 1;
      const result = await take(turnOf(number, request, key, suspects), runs, key);
      if (result.kind === "doubt") return result.doubt;
      isResent = result.kind === "resent";
    }
    if (!isResent)
      return { what: `but in time after its request ${request} of ${key.count}`, fix: waitAlways };
  }
  return undefined;
}

/** The suspects take turns. In the next round, each request gets what the next suspect has. */
function turnOf(number: number, request: number, key: SteadyKey, suspects: readonly Suspect[]): Turn {
  const round = Math.floor((number - 1) / key.count);
  const place = (number - 1) % key.count;
  const { ofKind } = suspects[(round + place) % suspects.length] as Suspect; // there is one
  return { number, request, kind: ofKind };
}

/** Rejects its request: again, if the command failed although one more request came. A suite may do that by chance. */
async function take(turn: Turn, runs: Runs, key: SteadyKey): Promise<TurnResult> {
  const first = await reject(turn, runs, key, "in turn");
  const isOpen = first.kind === "doubt" && first.isSentAgain;
  return isOpen ? reject(turn, runs, key, "in turn again") : first;
}

async function reject(
  { number, request, kind }: Turn,
  runs: Runs,
  key: SteadyKey,
  series: WhichRun["series"],
): Promise<TurnResult> {
  const settings = { request, nth: number, series, wait: waitAfter(kind) };
  const replaced = await runReplacing(runs, key, kind.name, kind.rejection, settings);
  if (replaced.kind === "not_judged") return { kind: "doubt", doubt: replaced.reason };

  const { run, extra, isEarly } = replaced;
  const when = `when its request ${request} of ${key.count} got ${kind.after}`;
  if (extra.length === 0) return { kind: "doubt", doubt: { what: `but not ${when}`, fix: askAgain } };
  if (run.result !== "passed")
    return {
      kind: "doubt",
      doubt: { what: `but the command failed ${when}`, fix: askAgain },
      isSentAgain: true,
    };
  if (kind.when === "always" || isEarly) return { kind: "resent" };
  return extra[0]?.isElsewhere ? { kind: "doubt", doubt: elsewhere } : { kind: "in_time" };
}

export const elsewhere: Reason = {
  why: "another process of the command sent the key after the rejection, whose clock no run shows",
  whatToDo: "Send the key in tests of one process only.",
};

const askAgain =
  "If only some tests ask again, such as those that poll or that their runner repeats, turn that off.";

const waitAlways =
  "If some calls ask again by themselves, such as a test that polls, let them wait as your client does.";

export const sometimes: Doubt = {
  what: "but only in some runs",
  fix: "Find out what else it depends on, such as the order of tests. If your client waits at random, add to the time, never subtract from it.",
};

export const thenFailed: Doubt = {
  what: "and the command then failed",
  fix: "Leave out what sends the key after a failed test, or what counts requests.",
};

const alsoLate: Doubt = {
  what: "but also while a response was only late",
  fix: "Do not send a request a second time while the first one has no response.",
};

const failedLate: Doubt = {
  what: "but the command failed while a response was only late",
  fix: "Wait longer for a response.",
};

/** Names one of the requests: the first one that came too soon, if there is one. */
export function unconfirmed(
  { ref }: SteadyKey,
  { ofKind: { when, after }, requests }: Pick<Suspect, "ofKind" | "requests">,
  { what, fix }: Doubt,
): Reason {
  const early = when === "too_soon" ? requests.find(({ earlyMs }) => earlyMs !== undefined) : undefined;
  const named = early ?? requests[0];
  const later = early === undefined ? "" : `, ${early.earlyMs} ms later`;
  const why = `after ${after}, ${variableOf(ref)} was sent again (${named?.id}${later}), ${what}`;
  return { why, whatToDo: fix };
}
