import type { WhyByOutcome } from "../contract/promised-outcome.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import type { Attempt } from "../sending/attempt.js";
import type { Contrast } from "./contrasts.js";
import { judgePlaces, listAgreeingPlaces, listOpenPlaces, type OpenPlace } from "./judge-places.js";
import { judged401s, tabulateRejections } from "./rejection-table.js";
import { describeContrasts, notesOnRejections } from "./rejection-words.js";
import type { RepeatedRejections, SentTurns } from "./send-again.js";
import { allTurns } from "./turns.js";

// How the 401s of a service are compared: by R14, they must not reveal why a key was rejected.
//
// - A cause is a reason for a 401, such as no key, or a revoked key. Each cause is sent twice, in two rounds.
// - A place is a part of the responses, such as a header or a member of the body. The texts at a place are compared word by
//   word, without the words that vary between the responses to one cause, such as ids.
// - The baseline is the cause that the others are compared with: unknown keys, unless these are the odd ones at a place.
// - A contrast is a place where a cause has other words than its baseline. A contrast can be chance, or come from one node of
//   several. So its cause, now a suspect, and its baseline are sent again, in four turns. A contrast that remains is a
//   difference.
// - A cause without enough 401s is open. A place is open where words vary in another way than ids and times do: it could
//   hide what reveals the cause.

/** How the 401s differ, and what of R14 stays open. */
interface ComparedRejections {
  readonly differences: readonly ContractDifference[];
  readonly notes: readonly string[];
  /** The causes that were tried and not compared with the others, with the reason. */
  readonly openCauses: WhyByOutcome;
  readonly openPlaces: readonly OpenPlace[];
}

const tooFew = "too few of the further requests got a 401";

const roundCount = 2;
/**
 * A contrast needs so many 401s of its cause, and of its baseline. A cause is sent in each round and turn, 6 times: one request
 * may have got something else. A baseline is sent more often.
 */
const fewestRejections = roundCount + allTurns.length - 1;

/**
 * Compares the 401s of different causes with each other (R14). It is called after all requests: only then is known which 401s
 * a lock may have sent.
 */
export function compareRejections(rejections: RepeatedRejections): ComparedRejections {
  const { attempts, turns } = rejections;
  const table = tabulateRejections(attempts);
  const judgedPlaces = judgePlaces(table, turns.contrasts);
  const openPlaces = listOpenPlaces(judgedPlaces);
  const openCauses = collectOpenCauses(rejections);
  return {
    differences: describeContrasts(findProven(turns, attempts)),
    notes: notesOnRejections({ openCauses, openPlaces, agreeingPlaces: listAgreeingPlaces(judgedPlaces) }),
    openCauses,
    openPlaces,
  };
}

/** A contrast that remains is a difference if all turns were sent, and enough of its requests got a 401. */
function findProven(turns: SentTurns, attempts: readonly Attempt[]): Contrast[] {
  if (turns.kind === "broken_off") return [];
  return turns.contrasts.filter((contrast) => hasEnoughRejections(contrast, attempts));
}

function hasEnoughRejections({ cause, baseline }: Contrast, attempts: readonly Attempt[]): boolean {
  const outcomesWith401 = judged401s(attempts).map(({ outcome }) => outcome);
  const countOfCause = outcomesWith401.filter((outcome) => outcome === cause).length;
  const countOfBaseline = outcomesWith401.filter((outcome) => outcome === baseline).length;
  return Math.min(countOfCause, countOfBaseline) >= fewestRejections;
}

/**
 * Returns why causes were not compared with the others: they are not in the table, the turns were broken off, or too few 401s
 * came in the turns. The first of these reasons counts.
 */
function collectOpenCauses({ attempts, whyNotInTable, turns }: RepeatedRejections): WhyByOutcome {
  const openCauses = new Map(whyNotInTable);
  for (const contrast of turns.contrasts) {
    const { cause } = contrast;
    if (openCauses.has(cause)) continue;
    if (turns.kind === "broken_off") openCauses.set(cause, turns.why);
    else if (!hasEnoughRejections(contrast, attempts)) openCauses.set(cause, tooFew);
  }
  return openCauses;
}
