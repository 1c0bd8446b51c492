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
type Uncompared = ReadonlyMap<PromisedOutcomeId, string>;

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
  const secondRound = await sendSecondRound(session);
  const turns = await sendTurns(session, contrastsBetween(causesIn(session.attempts)));
  const sure = turns.contrasts.filter(isSure);
  const unsure = turns.contrasts.filter((contrast) => !isSure(contrast));
  const tooFew = unsure.map(
    ({ cause }) => [cause.outcome, "too few of the further requests got a 401"] as const,
  );
  const uncompared: Uncompared = new Map([...tooFew, ...secondRound, ...turns.uncompared]);
  const causes = causesIn(session.attempts);
  return {
    differences: rejectionDifferences(sure),
    notes: [...notesOnUncompared(uncompared), ...notesOnVarying(causes, turns.contrasts)],
    uncompared,
  };
}

function isSure({ cause, baseline }: Contrast): boolean {
  return Math.min(cause.responses.length, baseline.responses.length) >= fewestResponses;
}

/** Returns why causes have no two 401s. */
async function sendSecondRound(session: Session): Promise<Uncompared> {
  const uncompared = new Map<PromisedOutcomeId, string>();
  const firsts = session.attempts.filter(
    ({ nth, outcome }) => nth === 1 && outcomeOf(outcome).status === 401,
  );
  const rejected = completedWith(firsts, 401);
  for (const attempt of firsts)
    if (attempt.response?.status !== 401)
      uncompared.set(attempt.outcome, `the first request got ${describeAttempt(attempt)}`);
  const whyNot = whyNoRoom(session, rejected.length);
  for (const attempt of rejected) {
    const second = whyNot === undefined ? await session.again(attempt) : undefined;
    if (second?.response?.status === 401) continue;
    const got = second && `the second request got ${describeAttempt(second)}`;
    uncompared.set(attempt.outcome, whyNot ?? got ?? String(session.ended?.why));
  }
  const [only, ...others] = causesIn(session.attempts);
  if (only !== undefined && others.length === 0) uncompared.set(only.outcome, "no other cause has two 401s");
  return uncompared;
}

/** Returns the contrasts that stay, and why turns are missing. */
async function sendTurns(
  session: Session,
  suspected: readonly Contrast[],
): Promise<{ readonly contrasts: readonly Contrast[]; readonly uncompared: Uncompared }> {
  let contrasts = suspected;
  for (const [index, isReversed] of turns.entries()) {
    const outcomes = outcomesOfTurn(contrasts, isReversed);
    const whyNot = whyNoRoom(session, outcomes.length, (turns.length - index) * outcomes.length);
    if (whyNot !== undefined)
      return { contrasts, uncompared: new Map(contrasts.map(({ cause }) => [cause.outcome, whyNot])) };
    for (const outcome of outcomes) {
      const first = session.attempts.find((attempt) => attempt.outcome === outcome);
      if (first !== undefined) await session.again(first);
    }
    contrasts = contrastsAgain(contrasts, causesIn(session.attempts));
  }
  return { contrasts, uncompared: new Map() };
}

function contrastsAgain(contrasts: readonly Contrast[], causes: readonly RejectionCause[]): Contrast[] {
  const latest = ({ outcome }: RejectionCause) => causes.find((cause) => cause.outcome === outcome);
  return contrasts.flatMap(({ at, cause, baseline }) =>
    contrastOf(at, latest(cause) ?? cause, latest(baseline)),
  );
}

/** The baselines come twice in a row: a balancer that alternates gives them different nodes. */
function outcomesOfTurn(contrasts: readonly Contrast[], isReversed: boolean): PromisedOutcomeId[] {
  const baselines = [...new Set(contrasts.map(({ baseline }) => baseline.outcome))];
  const suspects = [...new Set(contrasts.map(({ cause }) => cause.outcome))];
  return [...baselines, ...baselines, ...(isReversed ? suspects.toReversed() : suspects), ...baselines];
}

/** Returns why so many requests cannot be sent, of all that are needed. */
function whyNoRoom(session: Session, next: number, needed = next): string | undefined {
  const left = session.left();
  if (next <= left) return undefined;
  return session.ended?.why ?? `that takes ${needed - left} more of --max-requests`;
}

/** The causes to compare with, the best one first: an unknown key is another one each time, so no node follows it. */
const baselineCauses: readonly PromisedOutcomeId[] = ["401.unknown", "401.malformed", "401.missing"];

/** The causes with two 401s or more, those to compare with first. */
function causesIn(attempts: readonly Attempt[]): RejectionCause[] {
  const outcomes = new Set([...baselineCauses, ...attempts.map(({ outcome }) => outcome)]);
  return [...outcomes].flatMap((outcome) => {
    const rejected = completedWith(attempts, 401).filter((attempt) => attempt.outcome === outcome);
    return rejected.length < 2
      ? []
      : [{ outcome, responses: rejected.map(({ response }) => partsOf(response)) }];
  });
}

/** The differences of each cause, without places that differ only because another one does. */
function rejectionDifferences(contrasts: readonly Contrast[]): ContractDifference[] {
  const outcomes = [...new Set(contrasts.map(({ cause }) => cause.outcome))];
  return outcomes.flatMap((outcome) => {
    const places = contrasts
      .filter(({ cause }) => cause.outcome === outcome)
      .map((contrast) => ({ ...contrast, values: [contrast.found, contrast.expected] }));
    return withoutDerived(places).map(differenceOf);
  });
}

function differenceOf({ at, cause, baseline, found, expected }: Contrast): ContractDifference {
  const isBody = at.startsWith("$");
  const show = (value: string | undefined) => {
    if (value === undefined) return isBody ? "nothing" : "no such header";
    return isBody ? shownText(value) : quoted(value);
  };
  const right = `${show(expected)}, as for ${baseline.outcome}`;
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
