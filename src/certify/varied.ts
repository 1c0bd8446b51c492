import { outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { nameOf } from "./checks/check.js";
import { type Finding, type Judgment, mergeJudgments, type Note, singleCheck } from "./checks/judgment.js";
import { areAllSeedsTried, type CertifyPlan, isWanted, variedSeeds } from "./checks/plan.js";
import { type ClientRun, endWords, isBroken, resultOfPass } from "./client-runs/client-run.js";
import { againCommandOfRun, lastLineOf } from "./client-runs/finding-parts.js";
import { type Runs, unlessStopped } from "./client-runs/runs.js";
import { variationWords } from "./client-runs/seen-requests.js";

// In a varied run, each row of the table of variations has one variant, which its seed chooses. A run that fails in three of three runs is a
// problem. What breaks it? Each one is made again while less varies:
// 1. Nothing varies. If it fails in three of three runs, its seed breaks it.
// 2. Half of its rows vary, then half of the half that fails, until one row is left. If it fails in three of three runs while only this one
//    varies, the row breaks it.
// 3. Otherwise, no single row brings it back.
// A run that also fails with what breaks an earlier one is part of that problem.

/** Judges the varied runs, searches for what breaks those that fail, and makes the mixed run if all hold. */
export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const judged = await Promise.all(variedSeeds(plan).map((seed) => judgeVariedRun(runs, seed)));
  const failed: ClientRun[] = [];
  const tried: ClientRun[] = [];
  for (const { check, result } of judged) {
    if (result.kind === "not_judged") continue;
    const run = await runs.makeVaried(check.seed);
    tried.push(run);
    if (result.kind === "failed") failed.push(run);
  }
  const problems: Finding[] = [];
  for (const cause of await findCauses(runs, failed)) problems.push(causeProblem(cause, plan));
  // Other seeds leave out variants: that something did not vary then says nothing about the client.
  const notes = areAllSeedsTried(plan) ? notesOnUnvaried(runs, tried) : [];
  const ofSeeds = { checks: judged, problems, notes };

  // The mixed run is made if all of these hold, or if --only names it.
  const mixedCheck = { kind: "varied", seed: "mixed" } as const;
  const areAllHeld = judged.every(({ result }) => result.kind === "held");
  const isNamed = plan.only?.includes(nameOf(mixedCheck));
  if (!isNamed && !(areAllHeld && isWanted(plan, mixedCheck))) return ofSeeds;
  return mergeJudgments([ofSeeds, await judgeMixed(runs)]);
}

async function judgeVariedRun(runs: Runs, seed: number | "mixed") {
  const check = { kind: "varied", seed } as const;
  const run = await unlessStopped(runs.makeVaried(seed));
  if ("reason" in run) return { check, result: run };
  if (!isBroken(run)) return { check, result: resultOfPass(runs.plain, run, "varied") };
  const seen = `the command ${endWords(run)} with ${nameOf(check)}`;
  return { check, result: await unlessStopped(runs.judgeAgainst(check, run, isBroken, seen)) };
}

/** Judges the mixed run, in which each response has other variants than the one before. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { check, result } = await judgeVariedRun(runs, "mixed");
  if (result.kind !== "failed") return singleCheck(check, result);
  const run = await runs.makeVaried("mixed");
  return singleCheck(check, result, {
    name: nameOf(check),
    sentence: `${breakWords(run)} when the responses of one run differ in what the specification leaves open`,
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againCommandOfRun(run, runs.plan),
    ...lastLineOf(run),
    runs: [nameOf(check)],
  });
}

/** What breaks varied runs. */
interface Cause {
  /** What varies in `shownBy`: one row, or none if the seed breaks it. `undefined` if neither was found: then it is the first run that was searched. */
  readonly rows: readonly string[] | undefined;
  readonly shownBy: ClientRun;
  /** The runs that it breaks, in the order of their seeds. */
  readonly failed: ClientRun[];
}

/** Finds what breaks each of these runs, one after another, until a signal comes. */
async function findCauses(runs: Runs, failed: readonly ClientRun[]): Promise<readonly Cause[]> {
  const causes: Cause[] = [];
  for (const run of failed) {
    const cause = await unlessStopped(findCause(runs, run, causes));
    if ("reason" in cause) break;
    if (!causes.includes(cause)) causes.push(cause);
    cause.failed.push(run);
  }
  return causes;
}

/** Finds what breaks a run: what breaks an earlier one, its seed, a row, or nothing that can be told. After one run without a cause, no other is searched. */
async function findCause(runs: Runs, run: ClientRun, causes: readonly Cause[]): Promise<Cause> {
  const variedRows = new Set(run.points.map(({ row }) => row));
  const unknown = causes.find(({ rows }) => rows === undefined);
  for (const cause of causes) {
    const isPossible = cause.rows?.every((row) => variedRows.has(row)) === true;
    if (isPossible && isBroken(await makeWith(runs, run, cause.rows))) return cause;
  }
  if (unknown !== undefined) return unknown;

  // Of several rows that break it, the first one is found: a long body breaks more often than what makes it long.
  const rows = [...variedRows].sort(
    (one, other) => Number(other === "body_length") - Number(one === "body_length"),
  );
  for (const among of [[], rows]) {
    const cause = await findCauseAmong(runs, run, among);
    if (cause !== undefined) return cause;
  }
  // A command that fails at random passes one of these: then no failure counts.
  await runs.threeOf(run);
  return { rows: undefined, shownBy: run, failed: [] };
}

/** Halves the rows until one is left, and confirms that it breaks the run: it fails in three of three runs while nothing else varies. Without rows, nothing varies. */
async function findCauseAmong(
  runs: Runs,
  run: ClientRun,
  rows: readonly string[],
): Promise<Cause | undefined> {
  let remaining = rows;
  while (remaining.length > 1) {
    const middle = Math.ceil(remaining.length / 2);
    const firstHalf = remaining.slice(0, middle);
    // If the first half does not break it, the second one does.
    const isFirstHalf = isBroken(await makeWith(runs, run, firstHalf));
    remaining = isFirstHalf ? firstHalf : remaining.slice(middle);
  }
  const shownBy = await makeWith(runs, run, remaining);
  if (!isBroken(shownBy)) return undefined;
  const three = await runs.threeOf(shownBy);
  if (!three.every(isBroken)) return undefined;
  return { rows: remaining, shownBy, failed: [] };
}

/** Makes a run again while only these rows vary. */
function makeWith(runs: Runs, run: ClientRun, rows: readonly string[]): Promise<ClientRun> {
  const conditions = { ...run.conditions, rows: rows.map((row) => ({ row })) };
  return runs.makeAnother({ ...run, conditions });
}

/** The problem of a cause. Its name, its command and its last line are of the run that its sentence is about. */
function causeProblem(cause: Cause, plan: CertifyPlan): Finding {
  const { rows, shownBy, failed } = cause;
  const problem = {
    name: nameOf(shownBy.purpose),
    again: againCommandOfRun(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => nameOf(run.purpose)),
  };
  const row = rows?.[0];
  if (row === undefined) return { ...problem, ...wordsWithoutRow(cause) };
  const points = shownBy.points.filter((point) => point.row === row);
  return { ...problem, row, points, ...wordsOfRow(row, shownBy) };
}

/** The words of a row, as in "Breaks when each of a 200 and a 401 has an `ETag`": all of these responses had it when the command failed. */
function wordsOfRow(row: string, shownBy: ClientRun): Pick<Finding, "sentence" | "whatToDo"> {
  const statuses = new Set<string>();
  const variants = new Set<string>();
  for (const point of shownBy.points) {
    if (point.row !== row) continue;
    statuses.add(`a ${point.status}`);
    const variant = variationWords[row]?.variants[point.variant];
    if (variant !== undefined) variants.add(variant);
  }
  const responses = listed([...statuses].sort(), "and");
  const eachOf = statuses.size > 1 ? "each of " : "";
  const sentence = `${breakWords(shownBy)} when ${eachOf}${responses} ${listed([...variants], "or")}`;
  const remedy = String(variationWords[row]?.remedy); // each row has one
  if (shownBy.result !== "timed_out") return { sentence, whatToDo: remedy };
  const limit = "Limit how long your client waits. If it may wait that long, set a longer --timeout.";
  return { sentence, whatToDo: `${remedy} ${limit}` };
}

/** The words of what breaks although nothing varies, or although no row brings it back. */
function wordsWithoutRow({ rows, shownBy, failed }: Cause): Pick<Finding, "sentence" | "whatToDo"> {
  if (rows !== undefined) {
    const seeds = failed.map(({ seed }) => String(seed));
    const words = `${seeds.length === 1 ? "seed" : "seeds"} ${listed(seeds, "and")}`;
    return {
      sentence: `${breakWords(shownBy)} with ${words} even when nothing is varied`,
      whatToDo:
        "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
    };
  }
  const sentence = `${breakWords(shownBy)} with seed ${shownBy.seed}: no single row of varied responses brings it back`;
  const { lastRequest } = shownBy;
  if (lastRequest === undefined) return { sentence, whatToDo: "Look at what the command prints." };
  const { outcome, id } = lastRequest;
  return {
    sentence,
    whatToDo: `Look at what the command prints, and at the last response (${outcome}, ${id}).`,
  };
}

function breakWords({ result, timeouts }: ClientRun): string {
  if (result !== "timed_out") return "Breaks";
  return `Waits longer than ${Math.round(timeouts.total / 1000)} s`;
}

/** Notes what has not varied in any of these runs: responses with a status that no request got, and what the client's tests set themselves. */
function notesOnUnvaried({ outcomesToJudge, plan }: Runs, variedRuns: readonly ClientRun[]): Note[] {
  const notes: Note[] = [];
  const statuses = outcomesToJudge.map((outcome) => outcomeRow(outcome).status);
  for (const status of [401, 403, 429]) {
    if (statuses.includes(status)) continue;
    const why = `no request got a ${status}`;
    notes.push({ what: `varied ${status}`, why, whatToDo: `Send a key that gets a ${status}.` });
  }

  const setByTests = new Set<string>();
  for (const run of variedRuns) for (const name of run.ownAssumptions) setByTests.add(name);
  // Those that vary in some run, and those that the given scenario sets, are no choice of the tests.
  for (const run of variedRuns) for (const { row } of run.points) setByTests.delete(row);
  for (const name of plan.ownAssumptions ?? []) setByTests.delete(name);
  if (setByTests.size === 0) return notes;
  const names = [...setByTests].map((name) => `\`${name}\``);
  const why = `your tests set ${listed(names, "and")}`;
  notes.push({ what: "varied assumptions", why, whatToDo: "Leave them out of your tests." });
  return notes;
}
