import { type FaultOutcomeId, whatToDoAfter } from "../rules/fault-effects.js";
import { listed } from "../schema/words.js";
import type { Finding, Reason } from "./checks/judgment.js";

// The words of problems with faults, and the reasons why a fault shows nothing.

interface KindWords {
  /** Ends "fails when the first request with a key that works …". */
  readonly theRequest: string;
  /** Stands in a list: "sends the request again after …". */
  readonly theClientGets: string;
}

/** What happens to a request that is hit by the example of each kind. */
const wordsOfKinds: Readonly<Record<FaultOutcomeId, KindWords>> = {
  "fault.latency": { theRequest: "gets its response a second late", theClientGets: "a late response" },
  "fault.status": { theRequest: "gets a 503", theClientGets: "503" },
  "fault.reset": { theRequest: "has its connection reset", theClientGets: "a reset connection" },
  "fault.hang": { theRequest: "never gets a response", theClientGets: "no response" },
  "fault.truncate": { theRequest: "gets a response that is cut short", theClientGets: "a truncated body" },
  "fault.malformed": { theRequest: "gets a 200 with broken JSON", theClientGets: "broken JSON" },
  "fault.slow": { theRequest: "gets its response in many parts", theClientGets: "a response in many parts" },
};

/** What a problem of faults says. */
type FaultWords = Pick<Finding, "sentence" | "whatToDo">;

/** The words of faults after which the client sends the request again, and the command fails all the same. */
export function wordsIfSentAgain(names: readonly FaultOutcomeId[]): FaultWords {
  const gets = names.map((name) => wordsOfKinds[name].theClientGets);
  return {
    sentence: `Sends the request again after ${listed(gets, "or")}, and the command then fails`,
    whatToDo:
      "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.",
  };
}

/** The words of faults that the client does not survive. One has its own fix, several have a common one. */
export function wordsIfNotSurvived(names: readonly FaultOutcomeId[], isLate: boolean): FaultWords {
  const [name] = names as [FaultOutcomeId, ...FaultOutcomeId[]];
  const hasPage = names.includes("fault.status");
  const isOne = names.length === 1;

  const fixes = [isOne ? whatToDoAfter(name, { isIdempotent: true }) : sendAgain];
  if (hasPage) fixes.push("Read the status before the body: the error page of a gateway is HTML.");
  if (isLate) {
    fixes.push("If your client has a longer timeout, raise --timeout, for example to 60s.");
  }
  const allowed = names.map((fault) => `--allow ${fault}`);
  fixes.push(`If your client fails on purpose, add ${listed(allowed, "and")}.`);
  const whatToDo = fixes.join(" ");

  if (!isOne) {
    const gets = names.map((fault) => wordsOfKinds[fault].theClientGets);
    return { sentence: `Fails at the first failure: ${gets.join(", ")}`, whatToDo };
  }
  const fails = isLate ? "Does not end in time" : "Fails";
  let sentence = `${fails} when the first request with a key that works ${wordsOfKinds[name].theRequest}`;
  if (hasPage) sentence += " with an HTML page";
  return { sentence, whatToDo };
}

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
