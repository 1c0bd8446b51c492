import { isOfTheApi, whyNoneIsOfTheApi } from "./api-recognition.js";
import type { ContractDifference, Unjudged } from "./findings.js";
import { type Deviation, judgeAttempt, judgeAttempts, withRequest } from "./judge.js";
import {
  contractOutcomes,
  findKey,
  inRandomOrder,
  inReportOrder,
  isLimit,
  type PlannedRequest,
  plannedSuccesses,
} from "./keys.js";
import { compareRejections, repeatableCauses, usualRequest } from "./rejections.js";
import { send } from "./send.js";
import {
  type Attempt,
  describeAttempt,
  describeWithId,
  hasData,
  requestName,
  type Session,
} from "./session.js";
import { compareSuccesses } from "./successes.js";

// When is a response a difference? What is not as promised in a response is a deviation, whether it shows alone (`judge.ts`),
// next to other 200s (`successes.ts`) or next to other 401s (`rejections.ts`).
//
// 1. Pass 1 sends a request for each outcome, and those that got their 401 again, in a random order.
// 2. A request whose latest response has a deviation comes again in pass 2 and in pass 3, ten seconds apart.
// 3. A deviation in the three latest responses to its request is a difference: "seen 3 of 3 times".
// 4. Any other deviation is a note, and is not judged; nor is the same one in responses to other requests.
// 5. A wrong response is followed by the key that works. If it no longer works, the comparison ends, and what came since it
//    worked last is not judged. As long as no given key has worked, nothing is sent again.
//
// One of several nodes may fail, or have a text of its own. If a service takes them in turn, the same node must not meet a
// suspect each time: between its requests in pass 2 and 3 is an odd number of others. A 401 that is unlike others comes twice in
// pass 2, so that of k suspects, 2k + 1 and 2k requests are from one to the next: these have no common divisor.

/** Between two passes, in milliseconds. */
export const betweenPasses = 10_000;
/** So many responses must have a deviation. */
const leastSeen = 3;
/** Of a 401 that is another one than those of unknown keys: two in pass 1, two in pass 2, and one in pass 3. */
const leastSeenOf401 = 5;
/** Nodes that take keys by their hash have texts of their own: a suspect is unlike so many more unknown keys, which are alike. */
const moreUnknownKeys = 8;

/** Sends all requests of a comparison, but for those that reach limits. */
export async function sendPasses(session: Session): Promise<void> {
  await sendFirstPass(session);
  for (const pass of [2, 3]) {
    const suspects = findSuspects(session.attempts);
    if (suspects.length === 0 || session.working === undefined || session.end !== undefined) return;
    await session.wait(betweenPasses);
    await repeatSuspects(session, suspects, pass);
  }

  const hasUnlike401 = findSuspects(session.attempts).some(isOf401);
  if (hasUnlike401) await sendAll(session, Array(moreUnknownKeys).fill(usualRequest));
}

async function sendFirstPass(session: Session): Promise<void> {
  const { attempts, options } = session;
  const planned = planRequests(session);
  // A host gets a key only if its responses to the requests without one could be the API's.
  const withoutKey = planned.filter(({ variable }) => variable === undefined);
  await sendAll(session, withoutKey.slice(0, 1));
  if (!attempts.some(({ response }) => isOfTheApi(response))) {
    await sendAll(session, withoutKey.slice(1));
    const responses = attempts.map(({ response }) => response);
    session.endIfNotTheApi(whyNoneIsOfTheApi(responses, options.url));
  }

  // A working key comes before the keys that are rejected: these can lead to a lock.
  await findWorkingKey(session);
  const sent = new Set(attempts.map(({ outcome }) => outcome));
  const others: PlannedRequest[] = [];
  for (const request of planned) {
    const { outcome, variable } = request;
    if (sent.has(outcome)) continue;
    if (variable === undefined || session.working !== undefined) others.push(request);
    else session.unjudged.push({ outcomes: [outcome], why: session.whyNotRepeated });
  }
  await sendInRandomOrder(session, others);

  // The second response to a working key shows whether requests are counted, and whether the rejected keys led to a lock.
  const again = repeatableCauses(session);
  if (again.length === 0) return;
  await sendWorking(session);
  await sendInRandomOrder(session, again);
  await sendWorking(session);
}

/** Returns a request for each outcome that needs no limit to be reached, and has its key. */
function planRequests({ options, unjudged }: Session): PlannedRequest[] {
  const planned: PlannedRequest[] = [];
  for (const row of contractOutcomes) {
    const { outcome } = row;
    if (isLimit(outcome)) continue;
    const key = findKey(row, options.env);
    if (key.kind === "key") planned.push({ outcome, variable: key.variable });
    else unjudged.push({ outcomes: [outcome], why: key.why });
  }
  return planned;
}

/** Sends the keys that should work until one does. If none does, it is not the service that is to blame. */
async function findWorkingKey(session: Session): Promise<void> {
  let latest: Attempt | undefined;
  for (const request of plannedSuccesses(session.options.env)) {
    const result = await send(session, request);
    if (result.kind === "not_sent") return;
    latest = result.attempt;
    if (hasData(latest.response)) {
      session.working = { request, worksSince: session.attempts.length };
      return;
    }
  }
  if (latest !== undefined) session.endAt(latest, "no_key", "Look at the keys, or try again later.");
}

/** Those for which no request is left stay the last ones. */
async function sendInRandomOrder(session: Session, requests: readonly PlannedRequest[]): Promise<void> {
  const left = Math.max(session.requestsLeft, 0);
  await sendAll(session, [
    ...inRandomOrder(requests.slice(0, left), session.random),
    ...requests.slice(left),
  ]);
}

async function sendAll(session: Session, requests: readonly PlannedRequest[]): Promise<void> {
  for (const request of requests) {
    const isAgain = session.attempts.some((attempt) => requestName(attempt) === requestName(request));
    const result = await send(session, request);
    if (result.kind === "sent") {
      if (isWrong(result.attempt)) await sendWorking(session);
      continue;
    }
    // What was sent before is judged alone.
    const rule = request.otherPrefix ? "R15" : "R14";
    const isOfRule = isAgain || request.otherPrefix;
    session.unjudged.push({ outcomes: [request.outcome], ...(isOfRule && { rule }), why: result.why });
  }
}

/** Whether a response is none that an outcome promises, nor a 200 with data, which no lock or outage sends. */
function isWrong(attempt: Attempt): boolean {
  return !hasData(attempt.response) && judgeAttempt(attempt).length > 0;
}

/** Sends the key that works. If it no longer works, nothing more is sent. */
async function sendWorking(session: Session): Promise<void> {
  const { working, attempts } = session;
  if (working === undefined) return;
  const result = await send(session, working.request);
  if (result.kind === "not_sent" || session.end !== undefined) return;
  if (hasData(result.attempt.response)) {
    working.worksSince = attempts.length;
    return;
  }
  for (const attempt of attempts.slice(working.worksSince)) {
    attempt.whyUnjudged = `${working.request.variable}, which has worked, then got ${describeAttempt(result.attempt)}`;
  }
  session.endAt(result.attempt, "key_gone", "Try again later.");
}

/** Sends the suspects of a pass. In between the 401s that are unlike others are unknown keys. */
async function repeatSuspects(session: Session, suspects: readonly Deviation[], pass: number): Promise<void> {
  const unlike401s = requestsOf(suspects.filter(isOf401));
  await sendEach(session, requestsOf(suspects));
  if (unlike401s.length > 0) await sendAll(session, [usualRequest]);
  if (pass === 3) return;
  if (unlike401s.length === 0) await sendWorking(session);
  await sendEach(session, unlike401s);
}

/** Sends requests of suspects, each followed by the key that works. */
async function sendEach(session: Session, requests: readonly PlannedRequest[]): Promise<void> {
  for (const request of requests) {
    const result = await send(session, request);
    if (result.kind === "sent" && !hasData(result.attempt.response)) await sendWorking(session);
  }
}

function requestsOf(deviations: readonly Deviation[]): PlannedRequest[] {
  const requests = new Map<string, PlannedRequest>();
  for (const { attempts } of deviations) {
    const [{ outcome, variable, otherPrefix }] = attempts;
    const request = { outcome, variable, otherPrefix };
    requests.set(requestName(request), request);
  }
  return [...requests.values()];
}

function listDeviations(attempts: readonly Attempt[]): Deviation[] {
  return [
    ...judgeAttempts(attempts),
    ...compareSuccesses(attempts).deviations,
    ...compareRejections(attempts).deviations,
  ];
}

/** Whether the latest responses to its request have a deviation, so many at least. */
function isInLatest({ attempts, all }: Deviation, count: number): boolean {
  return all.length >= count && all.slice(-count).every((attempt) => attempts.includes(attempt));
}

const isOf401 = ({ difference }: Deviation) => difference.rules.includes("R14");

function findSuspects(attempts: readonly Attempt[]): Deviation[] {
  return listDeviations(attempts).filter((deviation) => isInLatest(deviation, 1));
}

/** Decides which deviations are differences. */
export function settleDeviations(session: Session) {
  const deviations = inReportOrder(listDeviations(session.attempts), ({ attempts }) => attempts[0].outcome);
  const nowAndThen = new Set<string>();
  for (const deviation of deviations) if (!isInLatest(deviation, 1)) nowAndThen.add(placeAndFound(deviation));

  const differences: ContractDifference[] = [];
  const unjudged: Unjudged[] = [];
  const notes: string[] = [];
  for (const deviation of deviations) {
    const { attempts, all, difference } = deviation;
    const { at, expected, found } = difference;
    const [first] = attempts;
    const times = `${attempts.length} of ${all.length}`;
    const least = isOf401(deviation) ? leastSeenOf401 : leastSeen;
    let why: string | undefined;
    if (!isInLatest(deviation, 1)) why = `it was seen in ${times} responses`;
    else if (nowAndThen.has(placeAndFound(deviation))) why = "the service responds like this now and then";
    else if (!isInLatest(deviation, least)) why = session.whyNotRepeated;

    if (why === undefined) {
      differences.push({ ...withRequest(first, difference), seen: `${times} times` });
      continue;
    }
    const responses = attempts.map(describeWithId).join("; ");
    unjudged.push({ outcomes: [first.outcome], at, why });
    notes.push(
      `Not judged: ${at} of ${first.outcome}, ${found} in place of ${expected}, because ${why}: ${responses}.`,
    );
  }
  return { differences, unjudged: [...unjudged, ...findOpenCount(session)], notes };
}

/** One 200 of the key that works does not show whether its requests are counted. */
function findOpenCount({ attempts, working, whyNotRepeated }: Session): Unjudged[] {
  const outcome = working?.request.outcome;
  const successes = attempts.filter((attempt) => attempt.outcome === outcome && hasData(attempt.response));
  if (outcome === undefined || successes.length !== 1) return [];
  return [{ outcomes: [outcome], rule: "R24", at: "$.data.usage.today", why: whyNotRepeated }];
}

function placeAndFound({ difference }: Deviation): string {
  return `${difference.at} ${difference.found}`;
}
