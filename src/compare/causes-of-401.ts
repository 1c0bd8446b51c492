import { outcomeOf, type PromisedOutcomeId } from "../rules/outcomes.js";
import { type Attempt, completedWith, describeAttempt } from "./attempt.js";
import {
  type Contrast,
  contrastOf,
  contrastsBetween,
  partsOf,
  type RejectionCause,
  stayingTexts,
  varyingPlaces,
  withoutDerived,
} from "./contrasts.js";
import type { ContractDifference } from "./keys-of-outcomes.js";
import { quoted, shownText } from "./response.js";
import type { Session } from "./session.js";

/** Why causes were not compared with the others. */
type Uncompared = Map<PromisedOutcomeId, string>;

interface ComparedRejections {
  readonly differences: readonly ContractDifference[];
  readonly notes: readonly string[];
  readonly uncompared: Uncompared;
}

/** Whether each turn is reversed. A balancer that alternates must not give each cause its own node. */
const turns = [false, true, true, false];
/** One of the turns may fail. */
const fewestResponses = 2 + turns.length - 1;

/** Compares the 401s of different causes with each other (R14): each is sent twice, and those that differ in turns. */
export async function compareRejections(session: Session): Promise<ComparedRejections> {
  const uncompared = await sendSecondRound(session);
  const contrasts = await sendTurns(session, contrastsBetween(causesIn(session.attempts)), uncompared);
  const isSure = ({ cause, usual }: Contrast) =>
    Math.min(cause.responses.length, usual.responses.length) >= fewestResponses;
  for (const { cause } of contrasts.filter((one) => !isSure(one) && !uncompared.has(one.cause.outcome)))
    uncompared.set(cause.outcome, "too few of the further requests got a 401");
  const causes = causesIn(session.attempts);
  return {
    differences: rejectionDifferences(contrasts.filter(isSure)),
    notes: [...notesOnUncompared(uncompared), ...notesOnVarying(causes, contrasts)],
    uncompared,
  };
}

async function sendSecondRound(session: Session): Promise<Uncompared> {
  const uncompared: Uncompared = new Map();
  const rejected = completedWith(session.attempts, 401);
  for (const attempt of session.attempts.filter(({ outcome }) => outcomeOf(outcome).status === 401))
    if (attempt.response?.status !== 401)
      uncompared.set(attempt.outcome, `the first request got ${describeAttempt(attempt)}`);
  // The request without a key may have been sent again as a control.
  const causes = rejected.filter(
    ({ outcome }, index) => rejected.findIndex((one) => one.outcome === outcome) === index,
  );
  const whyNot = whyNoRoom(session, causes.length);
  for (const attempt of causes) {
    const second = whyNot === undefined ? await session.again(attempt) : undefined;
    if (second?.response?.status === 401) continue;
    const got = second && `the second request got ${describeAttempt(second)}`;
    uncompared.set(attempt.outcome, whyNot ?? got ?? String(session.ended?.why));
  }
  const [only, ...others] = causesIn(session.attempts);
  if (only !== undefined && others.length === 0) uncompared.set(only.outcome, "no other cause has two 401s");
  return uncompared;
}

/** Returns the contrasts that stay. */
async function sendTurns(
  session: Session,
  suspected: readonly Contrast[],
  uncompared: Uncompared,
): Promise<readonly Contrast[]> {
  let contrasts = suspected;
  for (const [index, isReversed] of turns.entries()) {
    const outcomes = outcomesOfTurn(contrasts, isReversed);
    const whyNot = whyNoRoom(session, outcomes.length, (turns.length - index) * outcomes.length);
    if (whyNot !== undefined) {
      for (const { cause } of contrasts) uncompared.set(cause.outcome, whyNot);
      return contrasts;
    }
    for (const outcome of outcomes) {
      const first = session.attempts.find((one) => one.outcome === outcome);
      if (first !== undefined) await session.again(first);
    }
    const causes = causesIn(session.attempts);
    const latest = ({ outcome }: RejectionCause) =>
      causes.find((one) => one.outcome === outcome) as RejectionCause;
    contrasts = contrasts.flatMap(({ at, cause, usual }) => contrastOf(at, latest(cause), latest(usual)));
  }
  return contrasts;
}

/** The usual causes come twice in a row: a balancer that alternates gives them different nodes. */
function outcomesOfTurn(contrasts: readonly Contrast[], isReversed: boolean): PromisedOutcomeId[] {
  const usual = [...new Set(contrasts.map((one) => one.usual.outcome))];
  const suspects = [...new Set(contrasts.map(({ cause }) => cause.outcome))];
  return [...usual, ...usual, ...(isReversed ? suspects.toReversed() : suspects), ...usual];
}

/** Returns why so many requests cannot be sent, of all that are needed. */
function whyNoRoom(session: Session, next: number, needed = next): string | undefined {
  const left = session.left();
  if (next <= left) return undefined;
  return session.ended?.why ?? `that takes ${needed - left} more of --max-requests`;
}

/** The usual causes, the best one first: an unknown key is another one each time, so no node follows it. */
const usualCauses: readonly PromisedOutcomeId[] = ["401.unknown", "401.malformed", "401.missing"];

/** The causes with two 401s or more, the usual ones first. */
function causesIn(attempts: readonly Attempt[]): RejectionCause[] {
  const outcomes = new Set([...usualCauses, ...attempts.map(({ outcome }) => outcome)]);
  return [...outcomes].flatMap((outcome) => {
    const own = completedWith(attempts, 401).filter((one) => one.outcome === outcome);
    return own.length < 2 ? [] : [{ outcome, responses: own.map(({ response }) => partsOf(response)) }];
  });
}

/** The differences of each cause, without places that differ only because another one does. */
function rejectionDifferences(contrasts: readonly Contrast[]): ContractDifference[] {
  const outcomes = [...new Set(contrasts.map(({ cause }) => cause.outcome))];
  return outcomes.flatMap((outcome) => {
    const own = contrasts.filter(({ cause }) => cause.outcome === outcome);
    const places = own.map((one) => ({ ...one, values: [one.found, one.expected] }));
    return withoutDerived(places).map(differenceOf);
  });
}

function differenceOf({ at, cause, usual, found, expected }: Contrast): ContractDifference {
  const isBody = at.startsWith("$");
  const show = (value: string | undefined) => {
    if (value === undefined) return isBody ? "nothing" : "no such header";
    return isBody ? shownText(value) : quoted(value);
  };
  const right = `${show(expected)}, as for ${usual.outcome}`;
  return { rules: ["R14"], outcome: cause.outcome, at: shownText(at), expected: right, found: show(found) };
}

function notesOnUncompared(uncompared: Uncompared): string[] {
  return [...new Set(uncompared.values())].map((why) => {
    const outcomes = [...uncompared.keys()].filter((outcome) => uncompared.get(outcome) === why);
    return `Not compared with the other causes of 401 (R14): ${outcomes.join(", ")}, because ${why}.`;
  });
}

/** Notes on the places that differ without a cause that explains it. */
function notesOnVarying(causes: readonly RejectionCause[], contrasts: readonly Contrast[]): string[] {
  const explained = new Set(contrasts.map(({ at }) => at));
  const varying = withoutDerived(varyingPlaces(causes).filter(({ at }) => !explained.has(at)));
  const isComparable = ({ at }: { readonly at: string }) => stayingTexts(at, causes) !== undefined;
  const noteOn = (what: string, places: typeof varying) =>
    places.length === 0 ? [] : [`Not ${what}: ${places.map(({ at }) => shownText(at)).join(", ")}.`];
  return [
    ...noteOn(
      "judged between the causes of 401, because it also varies otherwise",
      varying.filter(isComparable),
    ),
    ...noteOn(
      "compared between the causes of 401, because the number of its words varies",
      varying.filter((one) => !isComparable(one)),
    ),
  ];
}
