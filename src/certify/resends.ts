import { adviceOf } from "../rules/advice.js";
import { keyVariable } from "../rules/keys/key-text.js";
import { isSuccess, outcomeRow } from "../rules/outcomes.js";
import type { Replacement } from "../runs/conditions.js";
import { listed } from "../schema/words.js";
import { nameOf, type ResendCheck, type RunPurpose, resendChecks } from "./checks/check.js";
import {
  type Finding,
  type Judgment,
  type NotJudged,
  nothingJudged,
  notJudged,
  type ResultOfCheck,
} from "./checks/judgment.js";
import { isOnPurpose, isWanted } from "./checks/plan.js";
import {
  type ClientRun,
  type KeyRequest,
  longestWait,
  plainRunRequest,
  type RunRequest,
  requestsWith,
  resultOfPass,
} from "./client-runs/client-run.js";
import { againWithOnly } from "./client-runs/finding-parts.js";
import { type Runs, timesToNotice, unlessStopped } from "./client-runs/runs.js";

// Is a key sent again after a 401 or 403, or too soon after a 429 or 503? A run rejects the last request with a key that works and that all
// runs send equally often, so that another test's request cannot follow. What follows then, on any path and by any method, is one request more
// than in the plain run:
//
//     plain run                         1--2--3
//     a 401 in place of its last 200    1--2-[3]       nothing more, and the command fails: held
//                                       1--2-[3]--4    one more: asked again by two such runs, and by three with a 404
//     a 404 in its place                1--2-[3]       nothing more
//
// If the key comes again in three of three runs, and in none of the three with a 404, that is a problem. Its sentence says no more: no run
// shows whether the client sends it, or a test that waits until a key works. With --allow, the second is no problem.

/** A key that the plain run accepted each time, and that other runs send as often, with its requests in the plain run. */
export interface WorkingKey {
  readonly ref: string;
  readonly requests: readonly KeyRequest[];
}

export async function judgeResends(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const checks = resendChecks(runs.outcomesToJudge).filter((check) => isWanted(plan, check));
  if (checks.length === 0) return nothingJudged;
  const allNotJudged = (result: NotJudged): Judgment => {
    return { ...nothingJudged, checks: checks.map((check) => ({ check, result })) };
  };
  const keys = await unlessStopped(findWorkingKeys(runs));
  if ("reason" in keys) return allNotJudged(keys);
  const key = keys.find(({ requests }) => requests.length > 1);
  if (key === undefined) {
    return allNotJudged(
      notJudged({
        why: "no key that always works came twice or more, and equally often in each run",
        whatToDo:
          "Send a key that works, such as SVC_KEY_ACTIVE, in two tests, and in each run. Turn off what sends it in the background or keeps its response. Keys of outcomes in --allow are left out.",
      }),
    );
  }

  const times = timesToNotice(checks);
  const judged = await Promise.all(
    checks.map(async (check) => {
      return { check, result: await unlessStopped(judgeResend(runs, key, check, times)) };
    }),
  );
  const failed = judged.filter(({ result }) => result.kind === "failed").map(({ check }) => check);
  if (failed.length === 0) return { ...nothingJudged, checks: judged };

  const doubt = await unlessStopped(findDoubtOfResends(runs, key, failed));
  if (doubt !== undefined) {
    const left = judged.map(({ check, result }) => ({
      check,
      result: result.kind === "failed" ? doubt : result,
    }));
    return { ...nothingJudged, checks: left };
  }
  const problems: Finding[] = [];
  // One loop of a client sends again whatever is rejected for good, and another one whatever ends.
  for (const isTimed of [false, true]) {
    const alike = failed.filter(({ retryAfter }) => (retryAfter !== undefined) === isTimed);
    if (alike.length > 0) problems.push(await resendProblem(runs, key, alike));
  }
  return { checks: judged, problems, notes: [] };
}

/**
 * The keys that the plain run accepted each time, and that it and two others or more send equally often, the default key first. A client
 * survives a rejection on purpose where --allow names the success.
 */
export async function findWorkingKeys(runs: Runs): Promise<WorkingKey[]> {
  const { plain, plan } = runs;
  const variedRuns = await runs.heldVaried();
  const others = variedRuns.length > 1 ? variedRuns : await runs.makeUpTo(plainRunRequest, 3);
  const keys: WorkingKey[] = [];
  for (const { key: ref, isUnknown, requests } of plain.sentKeys) {
    const isAlwaysAccepted = requests.every(({ outcome }) => {
      return isSuccess(outcome) && !isOnPurpose(plan, { kind: "answer", outcome });
    });
    const isSteady = others.every((run) => requestsWith(run, ref).length === requests.length);
    if (isUnknown || !isAlwaysAccepted || !isSteady) continue;

    if (ref === plan.defaultKey) keys.unshift({ ref, requests });
    else keys.push({ ref, requests });
  }
  return keys;
}

/** The requests with the key that the plain run does not have, in a run that put something in place of one of them. */
export function moreRequests(run: ClientRun, { ref, requests }: WorkingKey): readonly KeyRequest[] {
  if (run.replacedCount === 0) return [];
  return requestsWith(run, ref).slice(requests.length);
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
    return notJudged({
      why: "another process of the command sent the key after the rejection, whose clock no run shows",
      whatToDo: "Send the key in tests of one process only.",
    });
  }
  if (more.some(isTooEarly) && check.retryAfter !== undefined) {
    return notJudged({
      why: `after ${responseWords(check)}, ${keyVariable(key.ref)} was sent again too early, and once more in time`,
      whatToDo: "Turn off what sends the key in the background, such as a health check.",
    });
  }

  const held = { kind: "held", key: key.ref } as const;
  // The client waited.
  if (more.length > 0 && run.result === "passed") return held;
  // The client gave up.
  if (await runs.isNoticed(rejection, times)) return held;
  const shown = resultOfPass(runs.plain, run, "replaced");
  if (shown.kind === "not_judged") return shown;
  return notJudged({
    why: `the command passes when the last request with ${keyVariable(key.ref)} gets ${responseWords(check)}, and does not send it again`,
    whatToDo:
      "Use each response of a key that works in a test. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
  });
}

/** Why a key that came again shows nothing: it also comes again after a 404, which nobody has to repeat. `undefined` if it does not, in three of three runs. */
async function findDoubtOfResends(
  runs: Runs,
  key: WorkingKey,
  checks: readonly ResendCheck[],
): Promise<NotJudged | undefined> {
  const notFound = { kind: "rejection", as: "404.unknown_path" } as const;
  const controls = await runs.makeUpTo(lastRequestRun(key, notFound, { kind: "resend_control" }), 3);
  const silent = controls.filter((one) => one.replacedCount > 0 && moreRequests(one, key).length === 0);
  if (silent.length === controls.length) return undefined;

  const statuses = new Set(["404"]);
  for (const check of checks) statuses.add(String(statusOf(check)));
  return notJudged({
    why: `asks again after every failure (${[...statuses].sort().join(", ")}): the client, or the runner's retries`,
    whatToDo: "Turn the runner's retries off, or add --allow resend.",
  });
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

/** Asks for a run in which the last request with the key gets this. */
function lastRequestRun({ ref, requests }: WorkingKey, gets: Replacement, purpose: RunPurpose): RunRequest {
  const { nth } = requests.at(-1) as KeyRequest; // a key that was found came twice
  const onRequest = { which: { kind: "nth", key: ref, nth }, gets } as const;
  return { purpose, conditions: { onRequest }, clientMayWaitMs: longestWait };
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
