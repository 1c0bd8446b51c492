import { outcomeOf } from "../domain/outcomes.js";
import type { Exchange } from "./exchange.js";
import { compareRejections } from "./judge-rejections.js";
import { compareSuccesses } from "./judge-successes.js";
import { keyedPaths, limitPaths, unusedVariables } from "./key-variables.js";
import { learn } from "./learn.js";
import type { Send } from "./probe.js";
import { type CheckReport, reportOf } from "./report.js";
import { type CheckOptions, createSession, type Session } from "./session.js";
import { tryLimit } from "./try-limit.js";
import { tryKeyedPath, tryPath } from "./try-path.js";

/**
 * Sends requests, one after another, and compares the answers with the contract.
 *
 * Those without a key come first: no key is sent to a host that does not answer them as the API could.
 */
export async function runCheck(send: Send, options: CheckOptions): Promise<CheckReport> {
  const session = createSession(send, options);
  await tryPath(session, { pathId: "401.missing", apiKey: undefined, variable: undefined });
  await tryPath(session, { pathId: "401.malformed", apiKey: "not-a-key", variable: undefined });
  await tryPath(session, { pathId: "401.unknown", apiKey: options.unknownKey, variable: undefined });
  await settleRejections(session);
  for (const path of keyedPaths) await tryKeyedPath(session, path);
  await settleRejections(session);
  const [working] = permitted(session);
  await askAgain(session, working);
  for (const path of limitPaths) await tryLimit(session, path, working);
  return summedUp(session);
}

// Sends the first rejected request again while that may show whether answers differ by themselves.
async function settleRejections(session: Session): Promise<void> {
  const { controls } = session;
  while (compareRejections(rejected(session), controls).wantsControl && session.left() > 0) {
    const [first] = rejected(session) as [Exchange];
    const reply = await session.ask(first.probe);
    if ("kind" in reply || reply.status !== 401) return;
    controls.push(reply);
  }
}

// The second answer to the same key shows whether requests are counted.
async function askAgain(session: Session, working: Exchange | undefined): Promise<void> {
  if (working === undefined || session.left() < 1) return;
  const reply = await session.ask(working.probe);
  if (!("kind" in reply) && reply.status === 200) {
    session.exchanges.push({ probe: working.probe, answer: reply });
  }
}

function summedUp(session: Session): CheckReport {
  const { options, tried, observations, exchanges, controls } = session;
  const rejections = compareRejections(rejected(session), controls);
  return reportOf({
    url: options.url,
    requests: session.requests(),
    maxRequests: options.maxRequests,
    stopped: session.stopped(),
    tried,
    observations: [...observations, ...rejections.observations, ...compareSuccesses(permitted(session))],
    lessons: learn(exchanges),
    notes: [
      ...(rejections.varyByThemselves ? [variesNote] : []),
      ...unusedVariables(options.env).map((name) => `${name} is not used: its name tells no path.`),
    ],
  });
}

const variesNote =
  "Answers to one and the same request differ in their form, so the 401 were compared by what they say; the profile varied answers like this.";

function rejected({ exchanges }: Session): Exchange[] {
  return exchanges.filter(({ probe, answer }) => answer.status === 401 && expects(probe.pathId, 401));
}

function permitted({ exchanges }: Session): Exchange[] {
  return exchanges.filter(({ probe, answer }) => answer.status === 200 && expects(probe.pathId, 200));
}

function expects(pathId: Exchange["probe"]["pathId"], status: number): boolean {
  return outcomeOf(pathId).status === status;
}
