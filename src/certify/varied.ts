import { outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { nameOf } from "./checks/check.js";
import {
  type Finding,
  type Judgment,
  mergeJudgments,
  type Note,
  type ResultOfCheck,
} from "./checks/judgment.js";
import { areAllSeedsTried, type CertifyPlan, type PlannedChecks } from "./checks/plan.js";
import { type ClientRun, isBroken, resultOfPass } from "./client-runs/client-run.js";
import { againCommandOfRun, lastLineOf } from "./client-runs/finding-parts.js";
import { judgeEach, type Runs, unlessStopped } from "./client-runs/runs.js";
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
  const seeds = runs.checks.varied.filter(({ seed }) => seed !== "mixed");
  const mixed = runs.checks.varied.filter(({ seed }) => seed === "mixed");
  const judged = await judgeEach(seeds, ({ seed }) => judgeVariedRun(runs, seed));
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

  const areAllHeld = judged.every(({ result }) => result.kind === "held");
  const isNamed = plan.only?.includes("varied.mixed");
  if (!areAllHeld && !isNamed) return ofSeeds;
  return mergeJudgments([ofSeeds, await judgeMixed(runs, mixed)]);
}

async function judgeVariedRun(runs: Runs, seed: number | "mixed"): Promise<ResultOfCheck> {
  const run = await runs.makeVaried(seed);
  if (isBroken(run)) return runs.judgeFailure({ kind: "varied", seed }, run);
  return resultOfPass(runs.plain, run, "varied");
}

/** Judges the mixed run, in which each response has other variants than the one before; nothing if `--only` leaves it out. */
async function judgeMixed(runs: Runs, mixed: PlannedChecks["varied"]): Promise<Judgment> {
  const judged = await judgeEach(mixed, ({ seed }) => judgeVariedRun(runs, seed));
  const problems: Finding[] = [];
  for (const { check, result } of judged) {
    if (result.kind !== "failed") continue;
    const run = await runs.makeVaried("mixed");
    problems.push({
      name: nameOf(check),
      sentence: `${breakWords(run)} when the responses of one run differ in what the specification leaves open`,
      whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
      again: againCommandOfRun(run, runs.plan),
      ...lastLineOf(run),
      runs: [nameOf(check)],
    });
  }
  return { checks: judged, problems, notes: [] };
}

/** What breaks varied runs: their seeds, although nothing varies; one row; or nothing that was found. */
type Cause = ({ readonly kind: "seed" | "unknown" } | { readonly kind: "row"; readonly row: string }) & {
  /** A run that shows it: with nothing or only the row varied, or the first one whose cause is unknown. */
  readonly shownBy: ClientRun;
  /** The runs that it breaks, in the order of their seeds. */
  readonly failed: ClientRun[];
};

/** Finds what breaks each of these runs, one after another, until a signal comes. */
async function findCauses(runs: Runs, failed: readonly ClientRun[]): Promise<readonly Cause[]> {
  const causes: Cause[] = [];
  for (const run of failed) {
    const cause = await unlessStopped(findCause(runs, run, causes));
    if (cause.kind === "not_judged") break;
    if (!causes.includes(cause)) causes.push(cause);
    cause.failed.push(run);
  }
  return causes;
}

/** What breaks a run: what breaks an earlier one, or what a search finds. After one in vain, there is no other. */
async function findCause(runs: Runs, run: ClientRun, causes: readonly Cause[]): Promise<Cause> {
  for (const cause of causes) {
    if (cause.kind === "unknown") continue;
    const rows = cause.kind === "row" ? [cause.row] : [];
    if (isBroken(await makeWith(runs, run, rows))) return cause;
  }
  const unknown = causes.find(({ kind }) => kind === "unknown");
  return unknown ?? searchCause(runs, run);
}

async function searchCause(runs: Runs, run: ClientRun): Promise<Cause> {
  const withoutRows = await makeWith(runs, run, []);
  if (await isBrokenThrice(runs, withoutRows)) return { kind: "seed", shownBy: withoutRows, failed: [] };

  let rows = [...new Set(run.points.map(({ row }) => row))];
  while (rows.length > 1) {
    const middle = Math.ceil(rows.length / 2);
    const firstHalf = rows.slice(0, middle);
    // If the first half does not break it, the second one does.
    const isFirstHalf = isBroken(await makeWith(runs, run, firstHalf));
    rows = isFirstHalf ? firstHalf : rows.slice(middle);
  }
  const [row] = rows;
  const withRow = await makeWith(runs, run, rows);
  const isFound = row !== undefined && (await isBrokenThrice(runs, withRow));
  if (isFound) return { kind: "row", row, shownBy: withRow, failed: [] };
  return { kind: "unknown", shownBy: run, failed: [] };
}

async function isBrokenThrice(runs: Runs, run: ClientRun): Promise<boolean> {
  if (!isBroken(run)) return false;
  const three = await runs.threeOf(run);
  return three.every(isBroken);
}

/** Makes a run again while only these rows vary. */
function makeWith(runs: Runs, run: ClientRun, rows: readonly string[]): Promise<ClientRun> {
  const conditions = { ...run.conditions, rows: rows.map((row) => ({ row })) };
  return runs.makeAnother({ ...run, conditions });
}

/** The problem of a cause. Its name, its command and its last line are of the run that its sentence is about. */
function causeProblem(cause: Cause, plan: CertifyPlan): Finding {
  const { shownBy, failed } = cause;
  const problem = {
    name: nameOf(shownBy.purpose),
    again: againCommandOfRun(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => nameOf(run.purpose)),
  };
  switch (cause.kind) {
    case "row": {
      const points = shownBy.points.filter((point) => point.row === cause.row);
      return { ...problem, row: cause.row, points, ...wordsOfRow(cause.row, shownBy) };
    }
    case "seed": {
      const seeds = failed.map(({ seed }) => String(seed));
      const words = `${seeds.length === 1 ? "seed" : "seeds"} ${listed(seeds, "and")}`;
      return {
        ...problem,
        sentence: `${breakWords(shownBy)} with ${words} even when nothing is varied`,
        whatToDo:
          "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
      };
    }
    case "unknown": {
      const { lastRequest, seed } = shownBy;
      const response = lastRequest
        ? ` and at the last response (${lastRequest.outcome}, ${lastRequest.id})`
        : "";
      return {
        ...problem,
        sentence: `${breakWords(shownBy)} with seed ${seed}: no single row of varied responses brings it back`,
        whatToDo: `Look at what the command prints${response}.`,
      };
    }
  }
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
