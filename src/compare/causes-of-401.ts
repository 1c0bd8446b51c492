import { outcomeOf, type PromisedOutcomeId } from "../rules/outcomes.js";
import { type Attempt, type CompletedAttempt, completedWith, describeAttempt } from "./attempt.js";
import {
  type Contrast,
  contrastOf,
  contrastsBetween,
  isParameter,
  partsOf,
  type RejectedResponse,
  type RejectionCause,
  type UnjudgedPlace,
  unjudgedPlaces,
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
  /** Where the other causes show nothing, or not everything. */
  readonly unjudged: readonly UnjudgedPlace[];
}

/**
 * The further turns. A balancer that gives requests to its nodes in turn must not give each cause its own node: the
 * suspects are reversed in every other turn, and each turn is one request longer than the one before.
 */
const orders = ["forward", "reversed", "reversed", "forward"] as const;
/** One of the turns may fail. */
const fewestResponses = 2 + orders.length - 1;

/** Compares the 401s of different causes with each other (R14): each is sent twice, and those that differ in turns. */
export async function compareRejections(session: Session): Promise<ComparedRejections> {
  const secondRound = await sendSecondRound(session);
  const suspected = contrastsBetween(causesIn(session.attempts));
  const { contrasts, uncompared: withoutTurns } = await sendTurns(session, suspected);

  const sure = contrasts.filter(isSure);
  const uncompared = new Map<PromisedOutcomeId, string>();
  for (const contrast of contrasts)
    if (!isSure(contrast))
      uncompared.set(contrast.cause.outcome, "too few of the further requests got a 401");
  for (const [outcome, why] of [...secondRound, ...withoutTurns]) uncompared.set(outcome, why);

  const causes = causesIn(session.attempts);
  const unjudged = unjudgedPlaces(causes, contrasts);
  return {
    differences: rejectionDifferences(sure),
    notes: [
      ...notesOnUncompared(uncompared),
      ...notesOnUnjudged(unjudged),
      ...notesOnNewWords(causes, { unjudged, contrasts }),
    ],
    uncompared,
    unjudged,
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
  for (const turn of orders.keys()) {
    const outcomes = outcomesOfTurn(contrasts, turn);
    const whyNot = whyNoRoom(session, outcomes.length, lengthOfTurns(contrasts, turn));
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

/** The number of requests from a turn to the last one, if all contrasts stay. */
function lengthOfTurns(contrasts: readonly Contrast[], from: number): number {
  let length = 0;
  for (let turn = from; turn < orders.length; turn++) length += outcomesOfTurn(contrasts, turn).length;
  return length;
}

function contrastsAgain(contrasts: readonly Contrast[], causes: readonly RejectionCause[]): Contrast[] {
  const latest = ({ outcome }: RejectionCause) => causes.find((cause) => cause.outcome === outcome);
  const again: Contrast[] = [];
  for (const { at, cause, baseline } of contrasts) {
    const contrast = contrastOf(at, latest(cause) ?? cause, latest(baseline));
    if (contrast !== undefined) again.push(contrast);
  }
  return again;
}

/** The baselines come twice in a row: a balancer that alternates gives them different nodes. */
function outcomesOfTurn(contrasts: readonly Contrast[], turn: number): PromisedOutcomeId[] {
  const baselines = [...new Set(contrasts.map(({ baseline }) => baseline.outcome))];
  const [usual] = baselines;
  if (usual === undefined) return [];
  const suspects = [...new Set(contrasts.map(({ cause }) => cause.outcome))];
  const inOrder = orders[turn] === "reversed" ? suspects.toReversed() : suspects;
  // With turns of one length, a suspect would get the same one of as many nodes each time.
  const more = Array.from({ length: turn }, () => usual);
  return [...more, ...baselines, ...baselines, ...inOrder, ...baselines];
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
  const causes: RejectionCause[] = [];
  for (const outcome of outcomes) {
    const responses: RejectedResponse[] = [];
    for (const [number, attempt] of attempts.entries())
      if (attempt.outcome === outcome && isRejected(attempt))
        responses.push({ number, parts: partsOf(attempt.response) });
    if (responses.length >= 2) causes.push({ outcome, responses });
  }
  return causes;
}

function isRejected(attempt: Attempt): attempt is CompletedAttempt {
  return attempt.response?.status === 401 && outcomeOf(attempt.outcome).status === 401;
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
    if (isBody) return value === undefined ? "nothing" : shownText(value);
    if (isParameter(at)) return value === undefined ? "no such parameter" : shownText(value);
    return value === undefined ? "no such header" : quoted(value);
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

function notesOnUnjudged(unjudged: readonly UnjudgedPlace[]): string[] {
  const whys = new Set(unjudged.map(({ why }) => why));
  return [...whys].map((why) => {
    const places = unjudged.filter((place) => place.why === why);
    return `Not judged between the causes of 401, because ${why}: ${placesIn(places)}.`;
  });
}

interface JudgedPlaces {
  readonly unjudged: readonly UnjudgedPlace[];
  readonly contrasts: readonly Contrast[];
}

/** A note on the places that were compared without some of their words. */
function notesOnNewWords(causes: readonly RejectionCause[], { unjudged, contrasts }: JudgedPlaces): string[] {
  const others = new Set([...unjudged, ...contrasts].map(({ at }) => at));
  const places = withoutDerived(varyingPlaces(causes)).filter(({ at }) => !others.has(at));
  if (places.length === 0) return [];
  return [
    `Compared between the causes of 401 without the words that are new in each response: ${placesIn(places)}.`,
  ];
}

function placesIn(places: readonly { readonly at: string }[]): string {
  const names = new Set(places.map(({ at }) => shownText(at)));
  return [...names].join(", ");
}
