import { pluralize } from "../report/plain-text.js";
import type { Report } from "../report/report-shape.js";
import { keyVariable } from "../rules/keys/key-text.js";
import { notJudged, type ResultOfCheck } from "./checks/judgment.js";
import type { ClientRun } from "./client-runs/client-run.js";

/** Whether the plain run shows enough for other runs: it passes, and covers enough outcomes. */
export function judgePlainRun(plain: ClientRun): ResultOfCheck {
  if (plain.result === "passed") return resultOfCoverage(plain.report);
  if (plain.result === "timed_out") {
    return notJudged(
      "the command does not end in time in the plain run",
      "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.",
    );
  }
  const { code, signal } = plain;
  const bySignal = signal === undefined ? "" : `, after ${signal}`;
  return notJudged(
    `the command fails in the plain run with exit code ${code}${bySignal}`,
    "Fix that first: in this run the sandbox only does what the specification promises. If the command passes with `exec --profile typical`, it needs more than that, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`.",
  );
}

/** How many promised outcomes and announced endpoints a client must cover: fewer show too little. */
export const minOutcomes = 5;

/** The advice on requests that reach no endpoint, or no key: a client that sends them covers little. */
const misdirectionAdvice = ["key-in-query", "key-in-url", "key-in-authorization", "wrong-method-or-path"];

function resultOfCoverage(report: Report): ResultOfCheck {
  const { coverage, announced, outcomes, advice, requests } = report;
  const missing = minOutcomes - coverage.covered - announced.covered;
  if (missing <= 0) return { kind: "held" };
  let whatToDo = howToCoverMore(outcomes, missing);
  if (requests === 0) return notJudged("the command sent no request", whatToDo);

  const misdirection = advice.find(({ id }) => misdirectionAdvice.includes(id));
  const isKeyNeeded = outcomes.some((row) => row.promised && row.covered && row.outcome !== "401.missing");
  if (misdirection !== undefined) {
    whatToDo = `${misdirection.meaning} ${misdirection.whatToDo} ${whatToDo}`;
  } else if (!isKeyNeeded && announced.covered === 0) {
    return notJudged("the client sends no key in x-api-key", whatToDo);
  }
  let covers = `${coverage.covered} of ${coverage.promised} promised outcomes`;
  if (announced.covered > 0) covers += ` and ${pluralize(announced.covered, "announced endpoint")}`;
  return notJudged(`the client covers ${covers}, and certify needs ${minOutcomes}`, whatToDo);
}

function howToCoverMore(outcomes: Report["outcomes"], missing: number): string {
  const promised = outcomes.filter((row) => row.promised);
  const keys = keysToSend(promised);
  if (keys === "") {
    return `Send requests that end on ${missing} or more other outcomes, and check each response.`;
  }
  const rowsOfKeys = promised.filter((row) => keyThatCovers(row) !== undefined);
  if (rowsOfKeys.length < missing) {
    return `Send these keys, and other requests, so that they end on ${missing} or more other outcomes, and check each response: ${keys}`;
  }
  return `Send ${missing} or more of these keys, and check each response: ${keys}`;
}

/** The key that covers an outcome which the client does not; `undefined` if it covers the outcome, or if no key does so by itself. */
function keyThatCovers({ covered, howToCover }: Report["outcomes"][number]) {
  return covered || !howToCover || howToCover.ref === "none" ? undefined : howToCover;
}

/** The keys that cover what the client does not, as in "SVC_KEY_REVOKED (401.revoked); with the scenario rate-limits, SVC_KEY_DAILY (429.per_day)". */
function keysToSend(outcomes: Report["outcomes"]): string {
  const keysByScenario = new Map<string | null, string[]>();
  for (const row of outcomes) {
    const key = keyThatCovers(row);
    if (key === undefined) continue;
    const keys = keysByScenario.get(key.scenario) ?? [];
    keysByScenario.set(key.scenario, keys);
    keys.push(`${keyVariable(key.ref)} (${row.outcome})`);
  }

  const parts: string[] = [];
  for (const [scenario, keys] of keysByScenario) {
    const start = scenario === null ? "" : `with the scenario ${scenario}, `;
    parts.push(start + keys.join(", "));
  }
  return parts.join("; ");
}
