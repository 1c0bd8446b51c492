import { outcomeRow } from "../rules/outcomes.js";
import { type Attempt, describeInFull, got200, isJudged, requestName } from "./attempts.js";
import type { ContractDifference, PromisedOutcomeId, Unjudged } from "./findings.js";
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
import { compareRejections, unknownKey } from "./rejections.js";
import type { Session } from "./session.js";
import { compareSuccesses } from "./successes.js";

// When is a response a difference? What is not as promised in a response is a deviation, whether it shows alone (`judge.ts`),
// next to other 200s (`successes.ts`) or next to other 401s (`rejections.ts`).
//
// 1. Pass 1 sends a request for each outcome in a random order, and again what was as promised.
// 2. A request whose latest response has a deviation comes again in pass 2 and in pass 3, ten seconds apart.
// 3. A deviation in the three latest responses to its request is a difference: "seen 3 of 3 times". A 401 that is unlike others
//    needs five, and twelve unknown keys that are alike.
// 4. Any other deviation is a note, and is not judged; nor is the same one in responses to other requests.
// 5. A wrong response is followed by the key that works. If it no longer works, the comparison ends, and what came since it
//    worked last is not judged. As long as no given key has worked, nothing is sent again.
//
// One of several nodes may fail, or have a text of its own. If a service takes them in turn, the same node must not meet a
// suspect each time: between its requests in pass 2 and 3 is an odd number of others. A 401 that is unlike others comes twice in
// pass 2, so that of k suspects, 2k + 1 and 2k requests are from one to the next: these have no common divisor. If it takes them
// by the hash of the key, unknown keys can meet any node, and eight more of them come at the end.

/** Between two passes, in milliseconds. */
export const betweenPasses = 10_000;
/** So many responses must have a deviation. */
const leastSeen = 3;
/** Of a 401 that is unlike others: two in pass 1, two in pass 2, and one in pass 3. */
const leastSeenOf401 = 5;
const moreUnknownKeys = 8;
/** Two in pass 1, one each in pass 2 and 3, and these. */
const leastUnknownKeys = 4 + moreUnknownKeys;

/** Of eight nodes that take keys by their hash, one that has a text of its own can be missed by all unknown keys. */
const noteOnNodes =
  "R14: if several nodes take keys by their hash, and one has its own 401, a key that it takes differs as well. Another key for its outcome shows it.";

/** Sends all requests of a comparison, but for those that reach limits. */
export async function sendPasses(session: Session): Promise<void> {
  await sendFirstPass(session);
  for (const pass of [2, 3]) {
    const suspects = findSuspects(session.attempts);
    if (suspects.length === 0 || session.working === undefined || session.end !== undefined) return;
    await session.wait(betweenPasses);
    await repeatSuspects(session, suspects, pass);
  }

  const suspects = findSuspects(session.attempts);
  if (!suspects.some(isOf401)) return;
  const ofUnknown = suspects.filter(
    ({ attempts: [first] }) => requestName(first) === requestName(unknownKey),
  );
  // Unknown keys that are unlike all others, since their 401s are wrong in any case, need no proof.
  if (ofUnknown.some(isOf401) && !ofUnknown.every(isOf401)) return;
  await sendAll(session, Array(moreUnknownKeys).fill(unknownKey));
}

async function sendFirstPass(session: Session): Promise<void> {
  const { attempts } = session;
  const planned = planRequests(session);
  // The first request has no key: its response decides whether the host gets one.
  await sendAll(session, [{ outcome: "401.missing" }]);
  // A working key comes before the keys that are rejected: these can lead to a lock.
  await findWorkingKey(session);
  const sent = new Set(attempts.map(({ outcome }) => outcome));
  const others: PlannedRequest[] = [];
  for (const request of planned) {
    const { outcome, variable } = request;
    if (sent.has(outcome)) continue;
    if (variable === undefined || session.working !== undefined) others.push(request);
    else session.whyNotTried.set(outcome, session.whyNotRepeated);
  }
  await sendAll(session, inRandomOrder(others, session.requestsLeft, session.random));

  await sendAll(session, inRandomOrder(listSeconds(attempts, planned), session.requestsLeft, session.random));
  await sendOtherPrefix(session);
  // Shows whether the rejected keys led to a lock.
  await sendWorking(session);
}

/** Returns a request for each outcome that needs no limit to be reached, and has its key. */
function planRequests({ options, whyNotTried }: Session): PlannedRequest[] {
  const planned: PlannedRequest[] = [];
  for (const row of contractOutcomes) {
    const { outcome } = row;
    if (isLimit(outcome)) continue;
    const key = findKey(row, options.env);
    if (key.kind === "key") planned.push({ outcome, variable: key.variable });
    else whyNotTried.set(outcome, key.why);
  }
  return planned;
}

/** Sends the keys that should work until one does. If none does, it is not the service that is to blame. */
async function findWorkingKey(session: Session): Promise<void> {
  let latest: Attempt | undefined;
  for (const request of plannedSuccesses(session.options.env)) {
    const result = await session.send(request);
    if (result.kind === "not_sent") return;
    latest = result.attempt;
    if (got200(latest)) {
      session.working = { request, worksSince: session.attempts.length };
      return;
    }
  }
  if (latest !== undefined) session.endAt(latest, "no_key", "Look at the keys, or try again later.");
}

/** Returns what comes a second time in pass 1: what is suspected comes in pass 2, but two 401s can be compared at once. */
function listSeconds(attempts: readonly Attempt[], planned: readonly PlannedRequest[]): PlannedRequest[] {
  const suspects = findSuspectOutcomes(attempts);
  const seconds: PlannedRequest[] = [];
  for (const request of planned) {
    const { outcome } = request;
    const first = attempts.find((attempt) => attempt.outcome === outcome);
    if (first === undefined) continue;
    const is401 = outcomeRow(outcome).status === 401 && first.response?.status === 401;
    if (is401 || !suspects.has(outcome)) seconds.push(request);
  }
  return seconds;
}

/** Sends the key that works after the other prefix, twice: it is an unknown key, and compared with those (R15). */
async function sendOtherPrefix(session: Session): Promise<void> {
  const { attempts, working, unjudged } = session;
  if (working === undefined) return;
  const { outcome } = unknownKey;
  if (findSuspectOutcomes(attempts).has(outcome)) {
    unjudged.push({ at: "R15", why: `${outcome} was not as promised`, outcomes: [outcome] });
    return;
  }
  const otherPrefix = { ...unknownKey, variable: working.request.variable, otherPrefix: true };
  await sendAll(session, [otherPrefix, otherPrefix]);
}

/** Sends requests, each wrong response followed by the key that works. */
async function sendAll(session: Session, requests: readonly PlannedRequest[]): Promise<void> {
  for (const request of requests) {
    const { outcome } = request;
    const isAgain = session.attempts.some((attempt) => requestName(attempt) === requestName(request));
    const result = await session.send(request);
    if (result.kind === "sent") {
      const { attempt } = result;
      if (!got200(attempt) && judgeAttempt(attempt).length > 0) await sendWorking(session);
      continue;
    }

    const { why } = result;
    const { status } = outcomeRow(outcome);
    // What was sent before is judged alone.
    const outcomes = [outcome];
    if (request.otherPrefix) session.unjudged.push({ at: "R15", why, outcomes });
    else if (!isAgain) session.whyNotTried.set(outcome, why);
    else if (status === 401) session.unjudged.push({ at: "R14", why, outcomes });
    else if (status === 200) session.unjudged.push({ at: "R24", why, outcomes });
  }
}

/** Sends the key that works. If it no longer works, nothing more is sent. */
async function sendWorking(session: Session): Promise<void> {
  const { working, attempts } = session;
  if (working === undefined) return;
  const result = await session.send(working.request);
  if (result.kind === "not_sent" || session.end !== undefined) return;
  if (got200(result.attempt)) working.worksSince = attempts.length;
  else session.endAtWorking(result.attempt, working.worksSince);
}

/** Sends the suspects of a pass. Between 401s that are unlike others come unknown keys, or no key if theirs are unlike. */
async function repeatSuspects(session: Session, suspects: readonly Deviation[], pass: number): Promise<void> {
  const unlike401s = requestsOf(suspects.filter(isOf401));
  await sendEach(session, requestsOf(suspects));
  const areUnknownUnlike = unlike401s.some((request) => requestName(request) === requestName(unknownKey));
  const between: PlannedRequest = areUnknownUnlike ? { outcome: "401.missing" } : unknownKey;
  if (unlike401s.length > 0) await sendAll(session, [between]);
  if (pass === 3) return;
  if (unlike401s.length === 0) await sendWorking(session);
  await sendEach(session, unlike401s);
}

/** Sends requests of suspects, each followed by the key that works. */
async function sendEach(session: Session, requests: readonly PlannedRequest[]): Promise<void> {
  for (const request of requests) {
    const result = await session.send(request);
    if (result.kind === "sent" && !got200(result.attempt)) await sendWorking(session);
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

/** Judges each response alone, and next to others. */
function judgeAll(attempts: readonly Attempt[]) {
  const ofSuccesses = compareSuccesses(attempts);
  const ofRejections = compareRejections(inReportOrder(attempts, ({ outcome }) => outcome));
  return {
    deviations: [...judgeAttempts(attempts), ...ofSuccesses.deviations, ...ofRejections.deviations],
    unjudged: [...ofSuccesses.unjudged, ...ofRejections.unjudged],
    notes: [...ofSuccesses.notes, ...ofRejections.notes],
  };
}

/** Whether the latest responses to its request have a deviation, so many at least. */
function isInLatest({ attempts, all }: Deviation, count: number): boolean {
  return all.length >= count && all.slice(-count).every((attempt) => attempts.includes(attempt));
}

function isOf401({ difference }: Deviation): boolean {
  return difference.rules.includes("R14");
}

function findSuspects(attempts: readonly Attempt[]): Deviation[] {
  return judgeAll(attempts).deviations.filter((deviation) => isInLatest(deviation, 1));
}

function findSuspectOutcomes(attempts: readonly Attempt[]): ReadonlySet<PromisedOutcomeId> {
  return new Set(findSuspects(attempts).map((deviation) => deviation.attempts[0].outcome));
}

/** Decides which deviations are differences. */
export function settleDeviations({ attempts, whyNotRepeated }: Session) {
  const judged = judgeAll(attempts);
  const deviations = inReportOrder(judged.deviations, (deviation) => deviation.attempts[0].outcome);
  const nowAndThen = new Set<string>();
  for (const deviation of deviations) {
    const { at, found } = deviation.difference;
    if (!isInLatest(deviation, 1)) nowAndThen.add(`${at} ${found}`);
  }
  const unknownKeys = attempts.filter(
    (attempt) => isJudged(attempt) && requestName(attempt) === requestName(unknownKey),
  );

  const differences: ContractDifference[] = [];
  const unjudged: Unjudged[] = [];
  const notes: string[] = [];
  for (const deviation of deviations) {
    const { attempts, all, difference } = deviation;
    const { at, expected, found } = difference;
    const [first] = attempts;
    const times = `${attempts.length} of ${all.length}`;
    let isSeenOften = isInLatest(deviation, leastSeen);
    if (isOf401(deviation)) {
      isSeenOften = isInLatest(deviation, leastSeenOf401) && unknownKeys.length >= leastUnknownKeys;
    }

    let why: string | undefined;
    if (!isInLatest(deviation, 1)) why = `it was seen in ${times} responses`;
    else if (nowAndThen.has(`${at} ${found}`)) why = "the service responds like this now and then";
    else if (!isSeenOften) why = whyNotRepeated;

    if (why === undefined) {
      differences.push({ ...withRequest(first, difference), seen: `${times} times` });
      continue;
    }
    const responses = attempts.map(describeInFull).join("; ");
    unjudged.push({ at, why, outcomes: [first.outcome] });
    notes.push(
      `Not judged: ${at} of ${first.outcome}, ${found} in place of ${expected}, because ${why}: ${responses}.`,
    );
  }
  return {
    differences,
    unjudged: [...unjudged, ...judged.unjudged],
    notes: [...notes, ...(deviations.some(isOf401) ? [noteOnNodes] : []), ...judged.notes],
  };
}
