import { outcomeRow } from "../../rules/outcomes.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import { listed } from "../../schema/words.js";
import { nameOf } from "../checks/check.js";
import {
  type Finding,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  type Note,
  nothingJudged,
  notJudged,
  shownOr,
  singleCheck,
} from "../checks/judgment.js";
import { areAllSeedsTried, type CertifyPlan, isWanted } from "../checks/plan.js";
import { type ClientRun, exitWords } from "../client-runs/client-run.js";
import { hangsNowAndThen, repeatFailures } from "../client-runs/failures.js";
import { againCommandOfRun, lastLineOf } from "../client-runs/finding-parts.js";
import type { Runs } from "../client-runs/runs.js";
import { variationWords } from "../client-runs/seen-requests.js";
import { type Cause, findCauses, retryAfterRow } from "./causes.js";

/** Judges the varied runs: searches for the causes of those that failed, and makes the mixed run if all passed. */
export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const variedRuns = await runs.makeVaried();
  const accepted: ClientRun[] = [];
  const failures: ClientRun[] = [];
  for (const { run, result } of variedRuns) {
    if (run !== undefined && result.kind === "held") accepted.push(run);
    if (run !== undefined && result.kind === "failed") failures.push(run);
  }
  const { causes, doubt } = await findCauses(runs, failures);

  const withCause = new Set<ClientRun | undefined>();
  for (const { failed } of causes) {
    for (const run of failed) withCause.add(run);
  }
  const checks: JudgedCheck[] = [];
  for (const { check, run, result } of variedRuns) {
    // If failures are in doubt, a run that failed is not judged before it has a cause.
    const isInDoubt = result.kind === "failed" && doubt !== undefined && !withCause.has(run);
    checks.push({ check, result: isInDoubt ? notJudged(doubt) : result });
  }
  const problems = causes.map((cause) => causeProblem(cause, plan));

  // Other seeds leave out variants: that something did not vary then says nothing about the client.
  const notes = areAllSeedsTried(plan) ? notesOnUnvaried(runs, [...accepted, ...failures]) : [];

  // The mixed run is made if all of these hold, or if --only names it.
  const mixedCheck = { kind: "varied", seed: "mixed" } as const;
  let isMixedNext = isWanted(plan, mixedCheck) && variedRuns.every(({ result }) => result.kind === "held");
  if (plan.only?.includes(nameOf(mixedCheck))) isMixedNext = true;
  const mixed = isMixedNext ? await judgeMixed(runs) : nothingJudged;
  return mergeJudgments([{ checks, problems, notes }, mixed]);
}

/** The problem of a cause. Its name, its command and its last line are of the run that its sentence is about. */
function causeProblem(cause: Cause, plan: CertifyPlan): Finding {
  const { rows = [], points = [], shownBy, failed } = cause;
  const [row] = rows;
  return {
    ...(rows.length === 1 && { row }),
    ...(rows.length > 0 && { points }),
    ...causeWords(cause),
    name: nameOf(shownBy.purpose),
    again: againCommandOfRun(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => nameOf(run.purpose)),
  };
}

/** Notes what has not varied in any of these runs: responses with a status that no request got, and what the client's tests set themselves. */
function notesOnUnvaried({ outcomesToJudge, plan }: Runs, variedRuns: readonly ClientRun[]): Note[] {
  const notes: Note[] = [];
  const statuses = outcomesToJudge.map((outcome) => outcomeRow(outcome).status);
  for (const status of [401, 403, 429]) {
    if (statuses.includes(status)) continue;
    notes.push({
      what: `varied ${status}`,
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    });
  }

  const varied = new Set<string>();
  const setByTests = new Set<string>();
  for (const run of variedRuns) {
    for (const { row } of run.points) varied.add(row);
    for (const name of run.ownAssumptions) setByTests.add(name);
  }
  // Those that the given scenario sets are no choice of the tests.
  for (const name of [...varied, ...(plan.ownAssumptions ?? [])]) setByTests.delete(name);
  if (setByTests.size === 0) return notes;
  const names = [...setByTests].map((name) => `\`${name}\``);
  const why = `your tests set ${listed(names, "and")}`;
  notes.push({ what: "varied assumptions", why, whatToDo: "Leave them out of your tests." });
  return notes;
}

/** Judges the mixed run, in which each response has other variants than the one before. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { check, run, result } = await runs.makeMixed();
  if (run === undefined || result.kind !== "failed") return singleCheck(check, result);

  const doubt = await shownOr(repeatFailures(runs, [run]), notJudged);
  if (doubt !== undefined) return singleCheck(check, doubt);
  if (!runs.isRepeated(run)) return singleCheck(check, notJudged(hangsNowAndThen));
  const name = nameOf(check);
  return singleCheck(check, result, {
    name,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againCommandOfRun(run, runs.plan),
    ...lastLineOf(run),
    runs: [name],
  });
}

type CauseWords = Pick<Finding, "sentence" | "whatToDo">;

/** The words of a cause: of its rows, of the runs whose cause no search has found, or of the seed. */
function causeWords(cause: Cause): CauseWords {
  const { rows, searched, failed } = cause;
  if (rows !== undefined) return rowWords(rows, cause);
  if (searched !== undefined) return unknownWords(searched);

  const isLate = failed.every(({ result }) => result === "timed_out");
  const endWords = isLate ? "Does not end in time" : "Fails";
  return {
    sentence: `${endWords} with ${seedWords(failed)} even when nothing is varied`,
    whatToDo:
      "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
  };
}

function rowWords(rows: readonly string[], { points = [], shownBy }: Cause): CauseWords {
  const isLate = shownBy.result === "timed_out";
  // The client reads the header, and does what it asks for.
  if (isLate && rows.includes(retryAfterRow)) return longWaitWords(shownBy);

  const fixes = rows.map((row) => variationWords[row]?.remedy ?? "");
  if (isLate) fixes.push(limitWait);
  const whatToDo = fixes.join(" ");
  const responses = rows.map((row) => responseWords(row, points));
  if (responses.length > 1) {
    return { sentence: `Breaks only when two things come together: ${listed(responses, "and")}`, whatToDo };
  }
  return { sentence: `${isLate ? "Does not end in time" : "Breaks"} when ${responses[0]}`, whatToDo };
}

/** The responses whose variants of a row break the client, as in "each of a 200 and a 401 has an `ETag`". */
function responseWords(row: string, points: readonly VariedPoint[]): string {
  const statuses = new Set<string>();
  const variants = new Set<string>();
  for (const point of points) {
    if (point.row !== row) continue;
    statuses.add(`a ${point.status}`);
    const words = variationWords[row]?.variants[point.variant];
    if (words !== undefined) variants.add(words);
  }
  let responses = listed([...statuses].sort(), "and");
  if (statuses.size > 1) responses = `each of ${responses}`;
  return `${responses} ${listed([...variants], "or")}`;
}

const limitWait = "Limit how long your client waits. If it may wait that long, set a longer --timeout.";

/** The words of a client that waits as long as `Retry-After` asks, which is longer than its run may take. */
function longWaitWords({ lastAskedWait, timeouts }: ClientRun): CauseWords {
  const sentenceStart = `Waits longer than ${Math.round(timeouts.total / 1000)} s, as \`Retry-After\` of`;
  if (lastAskedWait === undefined) return { sentence: `${sentenceStart} a 429 asks`, whatToDo: limitWait };

  const { outcome, status, seconds } = lastAskedWait;
  const asks = `asks: ${seconds.toLocaleString("en-US")} s`;
  if (outcome !== "429.per_day") {
    return { sentence: `${sentenceStart} a ${status} ${asks}`, whatToDo: limitWait };
  }
  return {
    sentence: `${sentenceStart} a daily limit ${asks}`,
    whatToDo:
      "Limit how long your client waits, and tell its caller of the limit: a day is too long. Or test it with a key that is limited by the minute.",
  };
}

/** The words of runs that were searched, and whose cause was not found. */
function unknownWords(searched: readonly ClientRun[]): CauseWords {
  const lastRequest = searched[0]?.lastRequest;
  // Where nothing varied, no row was tried. Two rows together are not tried in a run that does not end.
  let tried = ", before any response varied";
  if (searched.some(({ points }) => points.length > 0)) {
    tried = ": no single row of varied responses brings it back";
    if (searched.every(({ result }) => result === "failed")) tried += ", and no two rows do";
  }
  const sentence = `The command ${howRunsEnd(searched)}${tried}`;

  let whatToDo = "Look at what the command prints: it got no response.";
  if (lastRequest) {
    const { outcome, id } = lastRequest;
    whatToDo = `Look at what the command prints, and at the last response (${outcome}, ${id}).`;
  }
  return { sentence, whatToDo };
}

/** As in "fails with exit code 1 with seeds 2 and 3 and does not end in time with seed 5". */
function howRunsEnd(runs: readonly ClientRun[]): string {
  const runsByEnd = new Map<string, ClientRun[]>();
  for (const run of runs) {
    const end = run.result === "timed_out" ? "does not end in time" : `fails with ${exitWords(run)}`;
    const alike = runsByEnd.get(end);
    if (alike === undefined) runsByEnd.set(end, [run]);
    else alike.push(run);
  }

  const words: string[] = [];
  for (const [end, alike] of runsByEnd) words.push(`${end} with ${seedWords(alike)}`);
  return listed(words, "and");
}

function seedWords(runs: readonly ClientRun[]): string {
  const seeds = runs.map(({ seed }) => String(seed));
  return `${seeds.length === 1 ? "seed" : "seeds"} ${listed(seeds, "and")}`;
}
