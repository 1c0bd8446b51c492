import { isFault } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { RunEnd, SentKey } from "./client-run.js";
import type { Reason } from "./judgment.js";

const turnOffCaches =
  "Turn off what runs only some of your tests, or none, such as `--rerun-tasks` of Gradle, `--force` of Turborepo, `--skip-nx-cache` of Nx, or `--no-cache`, and leave out `--onlyChanged`.";

/** Returns why a run that passed shows nothing, such as one without its subject; `undefined` if it does. */
export function whyNotJudged(
  plain: Pick<RunEnd, "sent">,
  run: Pick<RunEnd, "sent" | "pinned" | "points" | "replacedCount">,
  subject: "varied" | "replaced",
): Reason | undefined {
  const missing = missingIn(plain, run);
  if (run.sent.length === 0 && missing.length > 0)
    return { why: "the command sent no request (a cache of your test runner?)", whatToDo: turnOffCaches };
  if (subject === "varied" && run.pinned !== undefined)
    return { why: run.pinned, whatToDo: "Leave the seed out: the sandbox then has the run's." };
  if (subject === "varied" && run.points.length === 0)
    return {
      why: "no response varied",
      whatToDo: "Leave out what your tests set themselves, such as assumptions.",
    };
  if (subject === "replaced" && run.replacedCount === 0)
    return {
      why: "no request was hit",
      whatToDo: "Send the requests of the plain run again: without a cache of your client's own on disk.",
    };
  if (missing.length === 0) return undefined;
  const most = missing.length > 3 ? [...missing.slice(0, 3), "others"] : missing;
  const why = `the command did not send what it sent in the plain run: ${listed(most, "and")}`;
  return { why, whatToDo: `Send the same keys to the same endpoints in each run. ${turnOffCaches}` };
}

/** What the plain run sent and the run did not, as in "`active` (200.test)". What follows a request that was hit may change with it. */
function missingIn(plain: Pick<RunEnd, "sent">, run: Pick<RunEnd, "sent">): string[] {
  const inRun = new Set(run.sent.flatMap(requestsOf));
  const isReplaced = (key: string) =>
    run.sent.some((one) => one.key === key && one.requests.some((request) => request.isReplaced));
  const others = plain.sent.filter(({ key }) => !isReplaced(key));
  return [...new Set(others.flatMap(requestsOf))].filter((request) => !inRun.has(request));
}

function requestsOf({ key, isUnknown, requests }: SentKey): string[] {
  const name = isUnknown || key === "" ? "" : `\`${key}\` `;
  return requests
    .filter(({ outcome }) => !isFault(outcome))
    .map(({ outcome }) => (name === "" ? `a request that ends on ${outcome}` : `${name}(${outcome})`));
}
