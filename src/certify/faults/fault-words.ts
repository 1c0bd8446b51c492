import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import { whatToDoAfter } from "../../rules/fault-effects.js";
import { listed } from "../../schema/words.js";
import type { Finding } from "../checks/judgment.js";

/**
 * What happens to a request that is hit by the example of each kind. The first words end "fails when the first request with a key that works
 * …", the second stand in a list: "sends the request again after …".
 */
const wordsOfKinds: Readonly<Record<FaultOutcomeId, readonly [of: string, after: string]>> = {
  "fault.latency": ["gets its response a second late", "a late response"],
  "fault.status": ["gets a 503", "503"],
  "fault.reset": ["has its connection reset", "a reset connection"],
  "fault.hang": ["never gets a response", "no response"],
  "fault.truncate": ["gets a response that is cut short", "a truncated body"],
  "fault.malformed": ["gets a 200 with broken JSON", "broken JSON"],
  "fault.slow": ["gets its response in many parts", "a response in many parts"],
};

function wordsAfter(names: readonly FaultOutcomeId[]): string[] {
  return names.map((name) => wordsOfKinds[name][1]);
}

export type FaultWords = Pick<Finding, "sentence" | "whatToDo">;

/** The words of faults after which the client sends the request again, and the command fails all the same. */
export function wordsIfSentAgain(names: readonly FaultOutcomeId[]): FaultWords {
  return {
    sentence: `Sends the request again after ${listed(wordsAfter(names), "or")}, and the command then fails`,
    whatToDo:
      "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.",
  };
}

/** The words of faults at which the command fails. A single one has its own fix, several have a common one. */
export function wordsIfNotSurvived(names: readonly FaultOutcomeId[]): FaultWords {
  const [first, ...others] = names;
  if (first !== undefined && others.length === 0) return wordsOfSingle("Fails", first, []);

  const fixes = [
    "After a failure, send the request again if it may be sent twice: with growing pauses, and a few times at most.",
  ];
  if (names.includes("fault.status")) fixes.push(readStatusFirst);
  fixes.push(allowInstead(names));
  const sentence = `Fails at the first failure: ${wordsAfter(names).join(", ")}`;
  return { sentence, whatToDo: fixes.join(" ") };
}

export function wordsIfTooLate(name: FaultOutcomeId): FaultWords {
  return wordsOfSingle("Does not end in time", name, [
    "If your client has a longer timeout, raise --timeout, for example to 60s.",
  ]);
}

function wordsOfSingle(howItEnds: string, name: FaultOutcomeId, moreFixes: readonly string[]): FaultWords {
  let sentence = `${howItEnds} when the first request with a key that works ${wordsOfKinds[name][0]}`;
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
