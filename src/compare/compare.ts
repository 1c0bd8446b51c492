import type { Comparison } from "./comparison.js";
import { judgeSession } from "./judge-session.js";
import { tryLimits } from "./limits/limits.js";
import { describeNotCompared } from "./not-compared.js";
import { sendRejectionsAgain } from "./rejections/send-again.js";
import type { CompareOptions, Send } from "./sending/compare-options.js";
import { Session } from "./sending/session.js";
import { tryOutcomes } from "./sending/try-outcomes.js";

/** Sends the requests of a comparison, and judges what came of them. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  // The outcomes, the causes of 401 again, and last the limits, after which a key works no more. After the end of a session,
  // each step sends nothing, and only returns why.
  const session = new Session(send, options);
  const outcomes = await tryOutcomes(session);
  const rejections = await sendRejectionsAgain(session);
  const limits = await tryLimits(session);

  const whyNotTried = new Map([...outcomes.whyNotTried, ...limits.whyNotTried]);
  const { progress } = session;
  if (progress.kind === "not_the_api") return describeNotCompared(session, progress, whyNotTried);
  return judgeSession(session, progress, {
    rejections,
    whyNotTried,
    whyNotRepeated: outcomes.whyNotRepeated,
    differencesOfLimits: limits.differences,
  });
}
