import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import { whatToDoAfter } from "../../rules/fault-effects.js";
import { listed } from "../../schema/words.js";
import type { Finding, Reason } from "../checks/judgment.js";

// The words of problems with faults, and the reasons why a fault shows nothing.

interface KindWords {
  /** Ends "fails when the first request with a key that works …". */
  readonly requestPhrase: string;
  /** Stands in a list: "sends the request again after …". */
  readonly responsePhrase: string;
}

/** What happens to a request that is hit by the example of each kind. */
const wordsOfKinds: Readonly<Record<FaultOutcomeId, KindWords>> = {
  "fault.latency": { requestPhrase: "gets its response a second late", responsePhrase: "a late response" },
  "fault.status": { requestPhrase: "gets a 503", responsePhrase: "503" },
  "fault.reset": { requestPhrase: "has its connection reset", responsePhrase: "a reset connection" },
  "fault.hang": { requestPhrase: "never gets a response", responsePhrase: "no response" },
  "fault.truncate": {
    requestPhrase: "gets a response that is cut short",
    responsePhrase: "a truncated body",
  },
  "fault.malformed": { requestPhrase: "gets a 200 with broken JSON", responsePhrase: "broken JSON" },
  "fault.slow": {
    requestPhrase: "gets its response in many parts",
    responsePhrase: "a response in many parts",
  },
};

/** What a problem of faults says. */
export type FaultWords = Pick<Finding, "sentence" | "whatToDo">;

/** The words of faults after which the client sends the request again, and the command fails all the same. */
export function wordsIfSentAgain(names: readonly FaultOutcomeId[]): FaultWords {
  const responses = names.map((name) => wordsOfKinds[name].responsePhrase);
  return {
    sentence: `Sends the request again after ${listed(responses, "or")}, and the command then fails`,
    whatToDo:
      "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.",
  };
}

/** The words of faults at which the command fails. A single one has its own fix, several have a common one. */
export function wordsIfNotSurvived(first: FaultOutcomeId, others: readonly FaultOutcomeId[]): FaultWords {
  if (others.length === 0) return wordsOfSingle("Fails", first, []);

  const names = [first, ...others];
  const responses = names.map((name) => wordsOfKinds[name].responsePhrase);
  const fixes = [sendAgain];
  if (names.includes("fault.status")) fixes.push(readStatusFirst);
  fixes.push(allowInstead(names));
  return { sentence: `Fails at the first failure: ${responses.join(", ")}`, whatToDo: fixes.join(" ") };
}

/** The words of a fault after which the command does not end in time. */
export function wordsIfTooLate(name: FaultOutcomeId): FaultWords {
  return wordsOfSingle("Does not end in time", name, [
    "If your client has a longer timeout, raise --timeout, for example to 60s.",
  ]);
}

function wordsOfSingle(howItEnds: string, name: FaultOutcomeId, moreFixes: readonly string[]): FaultWords {
  let sentence = `${howItEnds} when the first request with a key that works ${wordsOfKinds[name].requestPhrase}`;
  const fixes = [whatToDoAfter(name, { isIdempotent: true })];
  if (name === "fault.status") {
    sentence += " with an HTML page";
    fixes.push(readStatusFirst);
  }
  fixes.push(...moreFixes, allowInstead([name]));
  return { sentence, whatToDo: fixes.join(" ") };
}

function allowInstead(names: readonly FaultOutcomeId[]): string {
  const allowed = names.map((name) => `--allow ${name}`);
  return `If your client fails on purpose, add ${listed(allowed, "and")}.`;
}

/** The 503 of a run is the error page of a gateway. */
const readStatusFirst = "Read the status before the body: the error page of a gateway is HTML.";

const sendAgain =
  "After a failure, send the request again if it may be sent twice: with growing pauses, and a few times at most.";

export const followsOwnFailure: Reason = {
  why: "the command fails, and the request that was hit follows a failure of your own tests",
  whatToDo: "Send a key that works in a test without a fault or a limit.",
};

export const nothingFollowed: Reason = {
  why: "the command passed, and no request with its key followed the one that was hit",
  whatToDo: "Make a test fail when the response of a key that works does not come.",
};

export const responseNotUsed: Reason = {
  why: "the command passes when the first request with a key that works gets a 401",
  whatToDo: "Use the response of each key that works in a test.",
};

export const sentAgainAfter401: Reason = {
  why: "the command passes when the first request with a key that works gets a 401, and sends it again",
  whatToDo:
    "Your client must stop at the first 401. If your tests ask again, turn that off: polling, or what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.",
};

export const noRequest: Reason = {
  why: "the plain run sent no request with a key that works which may be sent again, and whose response has a body",
  whatToDo: "Send a GET with a key that works.",
};
