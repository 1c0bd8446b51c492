import { outcomeRow } from "../../rules/outcomes.js";
import { defaultSeed, type RandomStream, randomStream } from "../../rules/seed.js";
import type {
  ContractDifference,
  Findings,
  PromisedOutcomeId,
  ResponseDifference,
  Unjudged,
} from "../contract/findings.js";
import type { PlannedRequest } from "../contract/keys-of-outcomes.js";
import { withRequest } from "../differences/judge.js";
import { shownText } from "../response/response.js";
import { type Attempt, describeAttempt, rightful200s } from "../sending/attempt.js";
import { controlSurprise, send } from "../sending/send.js";
import type { Session } from "../sending/session.js";
import { compareTexts, ofOtherPrefix, type TextComparison } from "./compare-texts.js";
import { describeTexts, type ResponsePlace, splitResponse, withoutConsequences } from "./places.js";

// The 401s of a service must not reveal why a key was rejected (R14). A cause is a reason for a 401, such as no key, or a
// revoked key. Each has the id of its outcome; one more is an unknown key that is a given one after the other prefix (R15).
//
// 1. All causes that got a 401 are sent again, in a random order: so nodes in turn, and times of the day, hit all alike.
// 2. A cause that always has another text at a place than the baseline is a suspect. The suspects and their baselines are sent
//    again in a random order, until they agree.
// 3. What still differs is a surprise, too: the controls show that no lock has sent it. Then it is a difference.
//
// How often: a node with its own text must not look like a cause. Whatever the order of the nodes is, a random order of the
// second requests of three causes gives each the node of its first one with a chance of 1/3 at most. Then the 5 requests of a
// suspect among 11 of its baseline must be exactly those that meet this node: 1 of C(16, 5) = 4,368. Together, that is 1 of
// 13,104. More suspects, and nodes by chance, stay below 1 of 10,000, too: `noise.test.ts` counts it.
//
// With all keys, and a text of its own for each cause: 15 outcomes, a working key and 6 causes again, 5 x 5 + 11, and 2 controls
// are 60 requests. There is room for the cause of R15 only if fewer causes differ.

/** How often a suspect and its baseline are sent again, at most. */
const repetitionsOfSuspect = 5;
const repetitionsOfBaseline = 11;
/** A request without a key, and one with a key that has worked. */
const controls = 2;

const whyPlaceIsUnjudged = "it varies in another way than ids and times";

interface Rejection {
  readonly cause: string;
  readonly attempt: Attempt;
  readonly textsById: ReturnType<typeof splitResponse>;
}

/** A place where the 401s are not all the same, with their texts. */
interface ComparedPlace {
  readonly place: ResponsePlace;
  readonly texts: readonly (string | undefined)[];
  readonly comparison: TextComparison;
}

/** Sends the causes of 401 again, and compares them with each other. */
export async function compareRejections(session: Session): Promise<Findings> {
  const sample = new RejectionSample(session);
  for (const attempt of firstRequests(session.attempts)) sample.add(attempt, "the first request");
  const whyNotAll = await sample.sendAgain(new Map(sample.causes.map((cause) => [cause, 1])));
  if (whyNotAll !== undefined) sample.leaveOut(sample.causes, whyNotAll);

  // If the 401s of one cause vary, they may be those of a lock: a key that has worked shows it.
  const [working] = rightful200s(session.attempts);
  const mayBeLocked = sample.compare().some(({ comparison }) => comparison.kind === "unjudged");
  if (working !== undefined && mayBeLocked) {
    await send(session, { outcome: working.outcome, variable: working.variable });
  }
  if (working !== undefined) await sendAfterOtherPrefix(session, sample, working);
  if (sample.causes.length === 1) sample.leaveOut(sample.causes, "no other cause has two 401s");
  await sendSuspects(session, sample);

  const places = sample.compare();
  const { unjudgedPlaces, newWords } = sortPlaces(places);
  const unjudged: Unjudged[] = [];
  for (const [cause, why] of sample.whyUnjudged) {
    unjudged.push({ outcomes: [sample.outcomeOf(cause)], rule: "R14", why });
  }
  const outcomes = [...new Set(sample.causes.map((cause) => sample.outcomeOf(cause)))];
  for (const at of unjudgedPlaces) unjudged.push({ outcomes, rule: "R14", at, why: whyPlaceIsUnjudged });
  return {
    differences: describeSuspects(places, sample),
    unjudged,
    notes: notesOnRejections(sample.whyUnjudged, unjudgedPlaces, newWords),
  };
}

/** Finds the first request of each cause, without those that met a limit that was waited for. */
function firstRequests(attempts: readonly Attempt[]): Attempt[] {
  const firstByCause = new Map<PromisedOutcomeId, Attempt>();
  for (const attempt of attempts) {
    const { outcome, whyUnjudged } = attempt;
    if (outcomeRow(outcome).status !== 401 || whyUnjudged !== undefined) continue;
    if (!firstByCause.has(outcome)) firstByCause.set(outcome, attempt);
  }
  return [...firstByCause.values()];
}

/** The 401s that are compared with each other. */
class RejectionSample {
  /** Why causes are not compared with the others. */
  readonly whyUnjudged = new Map<string, string>();
  readonly #session: Session;
  readonly #requests = new Map<string, PlannedRequest>();
  readonly #rejections: Rejection[] = [];
  readonly #draw: RandomStream;

  constructor(session: Session) {
    this.#session = session;
    this.#draw = randomStream(session.options.seed ?? defaultSeed, "order of 401s");
  }

  get causes(): string[] {
    return [...this.#requests.keys()].filter((cause) => !this.whyUnjudged.has(cause));
  }

  outcomeOf(cause: string): PromisedOutcomeId {
    return this.#requests.get(cause)?.outcome ?? "401.unknown";
  }

  leaveOut(causes: Iterable<string>, why: string): void {
    for (const cause of causes) if (!this.whyUnjudged.has(cause)) this.whyUnjudged.set(cause, why);
  }

  /** Adds a 401. A cause with another response is left out: what it shows is judged alone. */
  add(attempt: Attempt, which: string): void {
    const { outcome, variable, otherPrefix, response } = attempt;
    const cause = otherPrefix ? ofOtherPrefix : outcome;
    this.#requests.set(cause, { outcome, variable, otherPrefix });
    if (response?.status !== 401 || attempt.whyUnjudged !== undefined) {
      this.leaveOut([cause], `${which} got ${describeAttempt(attempt)}`);
      return;
    }
    this.#rejections.push({ cause, attempt, textsById: splitResponse(response) });
  }

  /**
   * Sends causes so many times in a random order, until `isDone`, if so many requests and `more` are left. Returns why not all
   * was sent.
   */
  async sendAgain(
    times: ReadonlyMap<string, number>,
    more = 0,
    isDone = () => false,
  ): Promise<string | undefined> {
    const order: string[] = [];
    for (const [cause, count] of times) order.push(...new Array<string>(count).fill(cause));
    shuffle(order, this.#draw);

    let whyNot = this.#session.whyNotSend(order.length + more);
    for (const cause of order) {
      const request = this.#requests.get(cause);
      if (whyNot !== undefined || isDone()) break;
      if (request === undefined || this.whyUnjudged.has(cause)) continue;
      const result = await send(this.#session, request);
      if (result.kind === "not_sent") whyNot = result.why;
      else this.add(result.attempt, "a later request");
    }
    return whyNot ?? this.#session.end?.why;
  }

  /** The first of the compared requests for a cause. */
  requestFor(cause: string): Attempt | undefined {
    return this.#rejections.find((rejection) => rejection.cause === cause)?.attempt;
  }

  /** Compares the texts at each place where they are not all the same. */
  compare(): ComparedPlace[] {
    const rejections = this.#rejections.filter(({ cause }) => !this.whyUnjudged.has(cause));
    const places = new Map<string, ResponsePlace>();
    for (const { textsById } of rejections) {
      for (const [id, { place }] of textsById) places.set(id, place);
    }

    const compared: ComparedPlace[] = [];
    for (const [id, place] of places) {
      const textsOfCauses = rejections.map(({ cause, textsById }) => {
        return { cause, text: textsById.get(id)?.text };
      });
      const texts = textsOfCauses.map(({ text }) => text);
      if (new Set(texts).size > 1) compared.push({ place, texts, comparison: compareTexts(textsOfCauses) });
    }
    return compared;
  }
}

function shuffle(order: string[], draw: RandomStream): void {
  for (let last = order.length - 1; last > 0; last--) {
    const index = Math.floor((draw() / 2 ** 32) * (last + 1));
    const [atIndex, atLast] = [order[index], order[last]];
    if (atIndex === undefined || atLast === undefined) continue;
    order[index] = atLast;
    order[last] = atIndex;
  }
}

/** A cause whose texts at a place always differ from those of the baseline. */
interface Suspect {
  readonly cause: string;
  readonly baseline: string;
  readonly place: ResponsePlace;
  /** The texts of both, with `…` for words that are new in each response. */
  readonly text: string | undefined;
  readonly textOfBaseline: string | undefined;
}

function findSuspects(places: readonly ComparedPlace[]): Suspect[] {
  const suspects: Suspect[] = [];
  for (const { place, comparison } of places) {
    if (comparison.kind !== "differs") continue;
    const { baseline, textsByCause } = comparison;
    const textOfBaseline = textsByCause.get(baseline);
    for (const [cause, text] of textsByCause) {
      // Of the two unknown keys, one is enough.
      if (cause === ofOtherPrefix && text === textsByCause.get("401.unknown")) continue;
      if (text !== textOfBaseline) suspects.push({ cause, baseline, place, text, textOfBaseline });
    }
  }
  return suspects;
}

/** How often each suspect and each baseline is sent again. A baseline can be a suspect at another place. */
function timesOfSuspects(suspects: readonly Suspect[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { cause } of suspects) times.set(cause, repetitionsOfSuspect);
  for (const { baseline } of suspects) times.set(baseline, repetitionsOfBaseline);
  return times;
}

/** Sends a given key after the other prefix, as an unknown key, if requests are left for it and for all suspects. */
async function sendAfterOtherPrefix(
  session: Session,
  sample: RejectionSample,
  { variable }: Attempt,
): Promise<void> {
  let needed = 1 + repetitionsOfSuspect + controls;
  for (const count of timesOfSuspects(findSuspects(sample.compare())).values()) needed += count;
  if (!sample.causes.includes("401.unknown") || session.whyNotSend(needed) !== undefined) return;
  const result = await send(session, { outcome: "401.unknown", variable, otherPrefix: true });
  if (result.kind === "sent") sample.add(result.attempt, "the request");
}

/** Sends the suspects and their baselines again, until they agree. What then still differs is controlled as a surprise. */
async function sendSuspects(session: Session, sample: RejectionSample): Promise<void> {
  const times = timesOfSuspects(findSuspects(sample.compare()));
  if (times.size === 0) return;
  let whyNot = await sample.sendAgain(times, controls, () => findSuspects(sample.compare()).length === 0);

  // Without all its requests, or those of its baseline, a suspect may only have met one node.
  for (const { cause, baseline } of findSuspects(sample.compare())) {
    const isSentWhole = times.has(cause) && times.get(baseline) === repetitionsOfBaseline;
    if (!isSentWhole) sample.leaveOut([cause], "a request of the cause to compare with got no 401");
  }

  const remaining = new Set(findSuspects(sample.compare()).map(({ cause }) => cause));
  const latest = session.attempts.findLast(({ outcome, otherPrefix }) => {
    return remaining.has(otherPrefix ? ofOtherPrefix : outcome);
  });
  if (whyNot === undefined && latest !== undefined) {
    await controlSurprise(session, latest);
    whyNot = session.end?.why;
  }
  if (whyNot !== undefined) sample.leaveOut(remaining, whyNot);
}

/** Returns the places that nobody can judge, and those that agree without new words; none that varies only because another one does. */
function sortPlaces(places: readonly ComparedPlace[]): { unjudgedPlaces: string[]; newWords: string[] } {
  // The body need not be unjudged to be the reason: its length varies with each id in it.
  const unjudgedOrBody = places.filter(
    ({ place, comparison }) => comparison.kind === "unjudged" || place.kind === "body",
  );
  const unjudged = withoutConsequences(unjudgedOrBody).filter(
    ({ comparison }) => comparison.kind === "unjudged",
  );
  const agreeing = withoutConsequences(places).filter(({ comparison }) => comparison.kind === "agrees");
  const namesOf = (some: readonly ComparedPlace[]) => [
    ...new Set(some.map(({ place }) => shownText(place.name))),
  ];
  return { unjudgedPlaces: namesOf(unjudged), newWords: namesOf(agreeing) };
}

function notesOnRejections(
  whyUnjudged: ReadonlyMap<string, string>,
  unjudgedPlaces: readonly string[],
  newWords: readonly string[],
): string[] {
  const notes: string[] = [];
  for (const why of new Set(whyUnjudged.values())) {
    const causes = [...whyUnjudged.keys()].filter((cause) => whyUnjudged.get(cause) === why);
    notes.push(`Not compared with the other causes of 401 (R14): ${causes.join(", ")}, because ${why}.`);
  }
  if (unjudgedPlaces.length > 0) {
    notes.push(
      `Not judged between the causes of 401, because ${whyPlaceIsUnjudged}: ${unjudgedPlaces.join(", ")}.`,
    );
  }
  if (newWords.length > 0) {
    const without = "without the words that are new in each response";
    notes.push(`Compared between the causes of 401 ${without}: ${newWords.join(", ")}.`);
  }
  return notes;
}

/** Describes the suspects as differences, without places that differ only because another one does. */
function describeSuspects(places: readonly ComparedPlace[], sample: RejectionSample): ContractDifference[] {
  const suspects = findSuspects(places);
  const differences: ContractDifference[] = [];
  for (const cause of new Set(suspects.map((suspect) => suspect.cause))) {
    const attempt = sample.requestFor(cause);
    if (attempt === undefined) continue;
    const ofCause = suspects.filter((suspect) => suspect.cause === cause);
    const withTexts = ofCause.map((suspect) => {
      return { ...suspect, texts: [suspect.text, suspect.textOfBaseline] };
    });
    for (const { place, baseline, text, textOfBaseline } of withoutConsequences(withTexts)) {
      const [expected, words] = describeTexts(place, textOfBaseline, text);
      const found = attempt.otherPrefix ? `${words}, after the other prefix` : words;
      const difference: ResponseDifference = {
        rules: attempt.otherPrefix ? ["R14", "R15"] : ["R14"],
        at: shownText(place.name),
        expected: `${expected}, as for ${baseline}`,
        found,
      };
      differences.push(withRequest(attempt, difference));
    }
  }
  return differences;
}
