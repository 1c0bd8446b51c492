import type { Comparison } from "./comparison.js";
import { contractOutcomes, isLimit } from "./contract/keys-of-outcomes.js";
import { judgeSession } from "./judge-session.js";
import { tryLimits } from "./limits/limits.js";
import { describeNotCompared } from "./not-compared.js";
import { sendRejectionsAgain } from "./rejections/send-again.js";
import { recognizeApiInAll } from "./sending/api-recognition.js";
import { rightful200s } from "./sending/attempt.js";
import type { CompareOptions, Send } from "./sending/compare-options.js";
import { repeatAttempt, tryOutcome } from "./sending/send-attempt.js";
import { Session } from "./sending/session.js";

/** Sends the requests of a comparison, and judges what came of them. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  // The outcomes, the causes of 401 again, and last the limits, after which a key works no more. After the end of a session,
  // each step only keeps why it sends nothing.
  const session = new Session(send, options);
  await tryOutcomes(session);
  const sentAgain = await sendRejectionsAgain(session);
  const differencesOfLimits = await tryLimits(session);

  const { progress } = session;
  if (progress.kind === "not_the_api") return describeNotCompared(session, progress);
  return judgeSession(session, progress, sentAgain, differencesOfLimits);
}

/** Sends a request for each outcome that needs no limit to be reached, and a second one with a key that works. */
async function tryOutcomes(session: Session): Promise<void> {
  // The outcomes without a key come first: a host gets a key only if its responses could be the API's.
  const rows = contractOutcomes.filter(({ outcome }) => !isLimit(outcome));
  for (const row of rows) {
    if (row.variables.length === 0) await tryOutcome(session, row);
  }
  const recognition = recognizeApiInAll(session.attempts, session.options.url);
  session.endIfNotTheApi(recognition, "nothing was sent after the requests without a working key");

  for (const row of rows) {
    if (row.variables.length > 0) await tryOutcome(session, row);
  }

  // The second response to the same key shows whether requests are counted, and whether the rejected keys led to a lock.
  const [working] = rightful200s(session.attempts);
  if (working !== undefined) await repeatAttempt(session, working);
}
