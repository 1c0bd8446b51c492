import { outcomeRow } from "../../rules/outcomes.js";
import { defaultSeed, type RandomStream, randomStream } from "../../rules/seed.js";
import type {
  ContractDifference,
  Findings,
  PromisedOutcomeId,
  ResponseDifference,
  Unjudged,
} from "../contract/findings.js";
import { withRequest } from "../differences/judge.js";
import { quoted } from "../response/describe.js";
import { shownText } from "../response/response.js";
import { type Attempt, describeAttempt, rightful200s } from "../sending/attempt.js";
import { controlSurprise, send } from "../sending/send.js";
import type { Session } from "../sending/session.js";
import { compareTexts, type TextComparison, type TextOfCause } from "./compare-texts.js";
import {
  type PlacedText,
  placeId,
  type ResponsePlace,
  splitResponse,
  startOfBytes,
  withoutConsequences,
} from "./places.js";

// The 401s of a service must not reveal why a key was rejected (R14). A cause is a reason for a 401, such as no key, or a
// revoked key.
//
// 1. All causes that got a 401 are sent again, in a random order: so nodes in turn, and times of the day, hit all alike.
// 2. A cause that always has another text at a place than the baseline is a suspect. The suspects and their baselines are sent
//    again in a random order, until they agree.
// 3. What still differs is a surprise, too: the controls show that no lock has sent it. Then it is a difference.
//
// How often: a node with its own text must not look like a cause. Whatever the order of the nodes is, a random order of the
// second requests of three causes gives each the node of its first one with a chance of 1/3 at most. Then the 5 requests of a
// suspect among 12 of its baseline must be exactly those that meet this node: 1 of C(17, 5) = 6,188. Together, that is 1 of
// 18,564. More suspects, and nodes by chance, stay below 1 of 10,000, too: `noise.test.ts` counts it. All causes with a leak
// of their own take 37 requests, which 60 have room for.

const repetitions = 1;
/** How often a suspect and its baseline are sent again, at most. */
const repetitionsOfSuspect = 5;
const repetitionsOfBaseline = 12;

const whyOpen = "it varies in another way than ids and times";

interface Rejection {
  readonly cause: PromisedOutcomeId;
  readonly attempt: Attempt;
  readonly textsById: ReadonlyMap<string, PlacedText>;
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
  const whyNotAll = await sample.sendAgain(new Map(sample.causes.map((cause) => [cause, repetitions])));
  if (whyNotAll !== undefined) sample.leaveOut(sample.causes, whyNotAll);
  await sendWorkingKey(session, sample);
  const { causes } = sample;
  if (causes.length === 1) sample.leaveOut(causes, "no other cause has two 401s");
  await sendSuspects(session, sample);

  const places = sample.compare();
  const { openPlaces, newWords } = sortPlaces(places);
  const unjudged: Unjudged[] = [];
  for (const [cause, why] of sample.whyUnjudged) unjudged.push({ outcomes: [cause], rule: "R14", why });
  for (const at of openPlaces) unjudged.push({ outcomes: sample.causes, rule: "R14", at, why: whyOpen });
  return {
    differences: describeSuspects(places, sample),
    unjudged,
    notes: notesOnRejections(sample.whyUnjudged, openPlaces, newWords),
  };
}

/** If the 401s of one cause vary, they may be those of a lock: a key that has worked shows it. */
async function sendWorkingKey(session: Session, sample: RejectionSample): Promise<void> {
  const working = rightful200s(session.attempts).at(0);
  const mayBeLocked = sample.compare().some(({ comparison }) => comparison.kind === "open");
  if (working === undefined || !mayBeLocked) return;
  await send(session, { outcome: working.outcome, variable: working.variable });
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
  readonly whyUnjudged = new Map<PromisedOutcomeId, string>();
  readonly #session: Session;
  readonly #variables = new Map<PromisedOutcomeId, string | undefined>();
  readonly #rejections: Rejection[] = [];
  readonly #draw: RandomStream;

  constructor(session: Session) {
    this.#session = session;
    this.#draw = randomStream(session.options.seed ?? defaultSeed, "order of 401s");
  }

  get causes(): PromisedOutcomeId[] {
    return [...this.#variables.keys()].filter((cause) => !this.whyUnjudged.has(cause));
  }

  leaveOut(causes: Iterable<PromisedOutcomeId>, why: string): void {
    for (const cause of causes) if (!this.whyUnjudged.has(cause)) this.whyUnjudged.set(cause, why);
  }

  /** Adds a 401. A cause with another response is left out: what it shows is judged alone. */
  add(attempt: Attempt, which: string): void {
    const { outcome, variable, response } = attempt;
    this.#variables.set(outcome, variable);
    if (response?.status !== 401 || attempt.whyUnjudged !== undefined) {
      this.leaveOut([outcome], `${which} got ${describeAttempt(attempt)}`);
      return;
    }
    const textsById = new Map<string, PlacedText>();
    for (const placed of splitResponse(response)) textsById.set(placeId(placed.place), placed);
    this.#rejections.push({ cause: outcome, attempt, textsById });
  }

  /**
   * Sends causes so many times in a random order, until `isDone`, if so many requests and the controls after them are left.
   * Returns why not all was sent.
   */
  async sendAgain(
    times: ReadonlyMap<PromisedOutcomeId, number>,
    controls = 0,
    isDone = () => false,
  ): Promise<string | undefined> {
    const order: PromisedOutcomeId[] = [];
    for (const [cause, count] of times) order.push(...new Array<PromisedOutcomeId>(count).fill(cause));
    shuffle(order, this.#draw);

    let whyNot = this.#session.whyNotSend(order.length + controls);
    for (const cause of order) {
      if (whyNot !== undefined || isDone()) break;
      if (this.whyUnjudged.has(cause)) continue;
      const result = await send(this.#session, { outcome: cause, variable: this.#variables.get(cause) });
      if (result.kind === "not_sent") whyNot = result.why;
      else this.add(result.attempt, "a later request");
    }
    return whyNot ?? this.#session.end?.why;
  }

  /** The first of the compared requests for a cause. */
  requestFor(cause: PromisedOutcomeId): Attempt | undefined {
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
      const textsOfCauses = rejections.map(({ cause, textsById }): TextOfCause => {
        return { cause, text: textsById.get(id)?.text };
      });
      const texts = textsOfCauses.map(({ text }) => text);
      if (new Set(texts).size > 1) compared.push({ place, texts, comparison: compareTexts(textsOfCauses) });
    }
    return compared;
  }
}

function shuffle(order: PromisedOutcomeId[], draw: RandomStream): void {
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
  readonly cause: PromisedOutcomeId;
  readonly baseline: PromisedOutcomeId;
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
      if (text !== textOfBaseline) suspects.push({ cause, baseline, place, text, textOfBaseline });
    }
  }
  return suspects;
}

/** Sends the suspects and their baselines again, until they agree. What then still differs is controlled as a surprise. */
async function sendSuspects(session: Session, sample: RejectionSample): Promise<void> {
  const suspects = findSuspects(sample.compare());
  if (suspects.length === 0) return;
  const times = new Map<PromisedOutcomeId, number>();
  for (const { cause } of suspects) times.set(cause, repetitionsOfSuspect);
  for (const { baseline } of suspects) times.set(baseline, repetitionsOfBaseline);

  let whyNot = await sample.sendAgain(times, 2, () => findSuspects(sample.compare()).length === 0);
  // Without all its requests, or those of its baseline, a suspect may only have met one node.
  for (const { cause, baseline } of findSuspects(sample.compare())) {
    const isSentWhole = times.has(cause) && times.get(baseline) === repetitionsOfBaseline;
    if (!isSentWhole) sample.leaveOut([cause], "a request of the cause to compare with got no 401");
  }

  const remaining = new Set(findSuspects(sample.compare()).map(({ cause }) => cause));
  const latest = session.attempts.findLast(({ outcome }) => remaining.has(outcome));
  if (whyNot === undefined && latest !== undefined) {
    await controlSurprise(session, latest);
    whyNot = session.end?.why;
  }
  if (whyNot !== undefined) sample.leaveOut(remaining, whyNot);
}

/** Returns the places that are open, and those that agree without new words; none that varies only because another one does. */
function sortPlaces(places: readonly ComparedPlace[]): { openPlaces: string[]; newWords: string[] } {
  // The body need not be open to be the reason: its length varies with each id in it.
  const openOrBody = places.filter(
    ({ place, comparison }) => comparison.kind === "open" || place.kind === "body",
  );
  const open = withoutConsequences(openOrBody).filter(({ comparison }) => comparison.kind === "open");
  const agreeing = withoutConsequences(places).filter(({ comparison }) => comparison.kind === "agrees");
  const namesOf = (some: readonly ComparedPlace[]) => [
    ...new Set(some.map(({ place }) => shownText(place.name))),
  ];
  return { openPlaces: namesOf(open), newWords: namesOf(agreeing) };
}

function notesOnRejections(
  whyUnjudged: ReadonlyMap<PromisedOutcomeId, string>,
  openPlaces: readonly string[],
  newWords: readonly string[],
): string[] {
  const notes: string[] = [];
  for (const why of new Set(whyUnjudged.values())) {
    const causes = [...whyUnjudged.keys()].filter((cause) => whyUnjudged.get(cause) === why);
    notes.push(`Not compared with the other causes of 401 (R14): ${causes.join(", ")}, because ${why}.`);
  }
  if (openPlaces.length > 0) {
    notes.push(`Not judged between the causes of 401, because ${whyOpen}: ${openPlaces.join(", ")}.`);
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
    const ofCause = suspects.filter((suspect) => suspect.cause === cause);
    const withTexts = ofCause.map((suspect) => ({
      ...suspect,
      texts: [suspect.text, suspect.textOfBaseline],
    }));
    const attempt = sample.requestFor(cause);
    for (const suspect of withoutConsequences(withTexts)) {
      const difference = describeSuspect(suspect);
      differences.push(
        attempt === undefined ? { outcome: cause, ...difference } : withRequest(attempt, difference),
      );
    }
  }
  return differences;
}

function describeSuspect({ place, baseline, text, textOfBaseline }: Suspect): ResponseDifference {
  const expected = wordsOfText(place, textOfBaseline);
  let found = wordsOfText(place, text);
  // Both are shortened for display only, and bytes are not shown.
  if (found === expected) {
    found = found === unshownBytes ? "other bytes" : "another value, which begins in the same way";
  }
  const at = shownText(place.name);
  return { rules: ["R14"], at, expected: `${expected}, as for ${baseline}`, found };
}

const unshownBytes = "bytes that are not UTF-8";

/** The text of a place in words: members, mostly JSON, and parameters are shown as they are, all else is quoted. */
function wordsOfText({ kind }: ResponsePlace, text: string | undefined): string {
  if (text === undefined) {
    if (kind === "header") return "no such header";
    return kind === "parameter" ? "no such parameter" : "nothing";
  }
  if (kind === "body" && text.startsWith(startOfBytes)) return unshownBytes;
  return kind === "member" || kind === "parameter" ? shownText(text) : quoted(text);
}
