import { adviceOf } from "../rules/advice.js";
import { keyVariable } from "../rules/keys/key-text.js";
import { outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { nameOf, type ResendCheck } from "./checks/check.js";
import {
  type Finding,
  type Judgment,
  judgedAlike,
  type NotJudged,
  nothingJudged,
  notJudged,
  type ResultOfCheck,
} from "./checks/judgment.js";
import { type ClientRun, type KeyRequest, type RunRequest, resultOfPass } from "./client-runs/client-run.js";
import { againWithOnly } from "./client-runs/finding-parts.js";
import { judgeEach, type Runs, timesToNotice, unlessStopped } from "./client-runs/runs.js";
import {
  findFittingKey,
  findWorkingKeys,
  lastRequestRun,
  moreRequests,
  notFoundRun,
  type WorkingKey,
} from "./last-request.js";

// Is a key sent again after a 401 or 403, or too soon after a 429 or 503? A run rejects the last request with a key that works (last-request.ts
// says which). Any further one is one more:
//
//     no more                           the command fails: held; it passes: not judged
//     one more after a 429 or 503       in its time: held; too early: as below
//     one more in 1 or 2 of 3 runs      not judged
//     one more in 3 of 3 runs           and one after a 404 in place of the rejection: not judged, something asks again after every failure
//                                       and none after a 404, in three of three: a problem, unless --allow names the check
//
// The sentence of a problem shows no more: no run shows whether the client sends it, or a test that waits until a key works.

export async function judgeResends(runs: Runs): Promise<Judgment> {
  const checks = runs.checks.resend;
  if (checks.length === 0) return nothingJudged;
  const key = await unlessStopped(chooseKey(runs));
  if ("kind" in key) return judgedAlike(checks, key);

  const times = timesToNotice(checks);
  const judged = await judgeEach(checks, (check) => judgeResend(runs, key, check, times));
  const failed: ResendCheck[] = [];
  for (const { check, result } of judged) {
    if (result.kind === "failed") failed.push(check);
  }
  if (failed.length === 0) return { ...nothingJudged, checks: judged };

  const comesAlways = await unlessStopped(findWhatComesAlways(runs, key, failed));
  if (comesAlways !== undefined) {
    const open = judged.map(({ check, result }) => {
      return { check, result: result.kind === "failed" ? comesAlways : result };
    });
    return { ...nothingJudged, checks: open };
  }
  const problems: Finding[] = [];
  // One loop of a client sends again whatever is rejected for good, and another one whatever ends.
  for (const isTimed of [false, true]) {
    const alike = failed.filter(({ retryAfter }) => (retryAfter !== undefined) === isTimed);
    if (alike.length > 0) problems.push(await resendProblem(runs, key, alike));
  }
  return { checks: judged, problems, notes: [] };
}

async function chooseKey(runs: Runs): Promise<WorkingKey | NotJudged> {
  const keys = await findWorkingKeys(runs);
  // The first one whose failure the command notices, and that does not come again after every failure.
  const isFit = (trial: ClientRun, one: WorkingKey) =>
    trial.result !== "passed" && moreRequests(trial, one).length === 0;
  const key = (await findFittingKey(runs, keys, isFit)) ?? keys[0];
  if (key !== undefined) return key;
  return notJudged(
    "no key that always works came equally often in each run",
    "Add a test that sends a key that works, such as SVC_KEY_ACTIVE, and nothing else in the background. Keys of outcomes in --allow are left out.",
  );
}

/** The first request that must not have come: any one more after a 401 or 403; after a rejection that ends, one before its time, if none came in time. */
function findResent(run: ClientRun, key: WorkingKey, { retryAfter }: ResendCheck): KeyRequest | undefined {
  const more = moreRequests(run, key);
  if (retryAfter === undefined) return more[0];
  return more.every(isTooEarly) ? more[0] : undefined;
}

function isTooEarly({ afterRejection }: KeyRequest): boolean {
  return afterRejection?.kind === "too_early";
}

async function judgeResend(
  runs: Runs,
  key: WorkingKey,
  check: ResendCheck,
  times: number,
): Promise<ResultOfCheck> {
  const rejection = rejectionRun(key, check);
  const run = await runs.makeOnce(rejection);
  const resent = findResent(run, key, check);
  if (resent !== undefined) {
    const isResent = (one: ClientRun) => findResent(one, key, check) !== undefined;
    const seen = `after ${responseWords(check)}, ${keyVariable(key.ref)} was sent again (${resent.id})`;
    return runs.judgeAgainst(check, run, isResent, seen);
  }

  const more = moreRequests(run, key);
  if (more.some(({ afterRejection }) => afterRejection?.kind === "by_other_process")) {
    return notJudged(
      "another process of the command sent the key after the rejection, whose clock no run shows",
      "Send the key in tests of one process only.",
    );
  }
  if (more.some(isTooEarly) && check.retryAfter !== undefined) {
    return notJudged(
      `after ${responseWords(check)}, ${keyVariable(key.ref)} was sent again too early, and once more in time`,
      "Turn off what sends the key in the background, such as a health check.",
    );
  }

  // Some clients send a key again after a 401 only if it has worked before.
  if (key.requests.length === 1 && check.outcome.startsWith("401.")) {
    return notJudged(
      `only one request has ${keyVariable(key.ref)}, and a client may send a key again that has worked before`,
      `Add a second test that sends ${keyVariable(key.ref)}.`,
    );
  }
  // The client waited.
  if (more.length > 0 && run.result === "passed") return { kind: "held", key: key.ref };
  // The client gave up.
  if (await runs.isNoticed(rejection, times)) return { kind: "held", key: key.ref, byFailure: true };
  const shown = resultOfPass(runs.plain, run, "replaced");
  if (shown.kind === "not_judged") return shown;
  return notJudged(
    `the command passes when the last request with ${keyVariable(key.ref)} gets ${responseWords(check)}, and does not send it again`,
    "Add a test that sends this key last, and fails without a 200. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
  );
}

/** Whether the key comes again after a 404, too, in one of three runs: then its resends show nothing. `undefined` if it does not. */
async function findWhatComesAlways(
  runs: Runs,
  key: WorkingKey,
  checks: readonly ResendCheck[],
): Promise<NotJudged | undefined> {
  const three = await runs.makeUpTo(notFoundRun(key), 3);
  const silent = three.filter((one) => one.replacedCount > 0 && moreRequests(one, key).length === 0);
  if (silent.length === three.length) return undefined;

  const statuses = new Set(["404"]);
  for (const check of checks) statuses.add(String(statusOf(check)));
  return notJudged(
    `asks again after every failure (${[...statuses].sort().join(", ")}): the client, or the runner's retries`,
    "Turn the runner's retries off, or add --allow resend.",
  );
}

function rejectionRun(key: WorkingKey, check: ResendCheck): RunRequest {
  const rejection = { kind: "rejection", as: check.outcome } as const;
  const withSeconds = { ...rejection, seconds: retryAfterSeconds };
  if (check.retryAfter === "seconds") return lastRequestRun(key, withSeconds, check);
  if (check.retryAfter === "date") return lastRequestRun(key, { ...withSeconds, asDate: true }, check);
  const run = lastRequestRun(key, rejection, check);
  if (check.retryAfter === "without") return { ...run, clientMayWaitMs: untilNextMinute };
  return run;
}

/** The `Retry-After` of rejections that have one: short, and longer than a pause of a client that does not read it. */
const retryAfterSeconds = 4;

/** A minute and a little more, in milliseconds: a client may wait until the next minute begins. */
const untilNextMinute = 61_000;

function statusOf({ outcome }: ResendCheck): number {
  return outcome === "fault.status" ? 503 : outcomeRow(outcome).status;
}

/** The response in words, as in "a 429 with `Retry-After: 4`" or "a 403 with `insufficient_scope`". */
export function responseWords(check: ResendCheck): string {
  const { outcome, retryAfter } = check;
  const { status, code } = outcomeRow(outcome);
  const withStatus = `a ${statusOf(check)}`;
  if (retryAfter === "without") return `${withStatus} without \`Retry-After\``;
  if (retryAfter === "seconds") return `${withStatus} with \`Retry-After: ${retryAfterSeconds}\``;
  if (retryAfter === "date") return `${withStatus} with a date in \`Retry-After\``;
  if (status === 403) return `${withStatus} with \`${code}\``;
  return withStatus;
}

function fixOf({ outcome, retryAfter }: ResendCheck): string {
  if (outcome === "fault.status") return adviceOf("too-soon-after-503").whatToDo;
  if (retryAfter !== undefined) return "Wait for Retry-After, or for the next minute, and longer each time.";
  const { status } = outcomeRow(outcome);
  return adviceOf(status === 403 ? "same-key-after-403" : "same-key-after-401").whatToDo;
}

export const nameOfKey = (ref: string) => keyVariable(ref).replace("SVC_KEY_", "");

/** The problem of one or several kinds of rejections, after which the key came again. */
async function resendProblem(runs: Runs, key: WorkingKey, checks: readonly ResendCheck[]): Promise<Finding> {
  const names = checks.map(nameOf);
  const times: string[] = [];
  // Ids of requests do not depend on what was rejected, so several kinds often have the same id.
  const ids = new Set<string>();
  const fixes = new Set<string>();
  for (const check of checks) {
    const run = await runs.makeOnce(rejectionRun(key, check));
    const resent = findResent(run, key, check);
    if (resent === undefined) continue;
    const { id, afterRejection } = resent;
    const after = `after ${responseWords(check)}`;
    ids.add(id);
    fixes.add(fixOf(check));
    if (check.retryAfter === undefined || afterRejection?.kind !== "too_early") {
      times.push(after);
      continue;
    }
    times.push(`${afterRejection.ms} ms ${after}`);
    fixes.add("If your tests replace the pause, move the sandbox's clock by it.");
  }
  const flags = names.map((name) => `--allow ${name}`);
  fixes.add(
    `If it is sent again on purpose, such as by a test that waits until a key works, add ${flags.join(" ")}.`,
  );
  return {
    name: names[0] as string, // of a problem, there is a check
    sentence: `Sends ${nameOfKey(key.ref)} again ${listed(times, "and")} (3 of 3 runs; not after a 404; ${listed([...ids], "and")})`,
    whatToDo: [...fixes].join(" "),
    again: againWithOnly(runs.plan, names),
    runs: names,
  };
}
