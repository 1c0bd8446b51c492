import { outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import type { Note } from "../checks/judgment.js";
import type { ClientRun } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";

/** Notes what has not varied in any of these runs: responses with a status that no request got, and what the client's tests set themselves. */
export function notesOnUnvaried(runs: Runs, variedRuns: readonly ClientRun[]): Note[] {
  const notes: Note[] = [];
  const statuses = runs.outcomesToJudge.map((outcome) => outcomeRow(outcome).status);
  for (const status of [401, 403, 429]) {
    if (statuses.includes(status)) continue;
    notes.push({
      what: `varied ${status}`,
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    });
  }

  const unvaried = assumptionsSetByTests(variedRuns, runs.plan.ownAssumptions);
  if (unvaried.length === 0) return notes;
  const names = unvaried.map((name) => `\`${name}\``);
  const why = `your tests set ${listed(names, "and")}`;
  notes.push({ what: "varied assumptions", why, whatToDo: "Leave them out of your tests." });
  return notes;
}

/** The assumptions that some sandboxes of the runs set, and that varied in none. Those of the given scenario are no choice of the tests. */
function assumptionsSetByTests(
  variedRuns: readonly ClientRun[],
  ofScenario: readonly string[] = [],
): string[] {
  const varied = new Set<string>();
  const set = new Set<string>();
  for (const run of variedRuns) {
    for (const { row } of run.points) varied.add(row);
    for (const name of run.ownAssumptions) set.add(name);
  }
  return [...set].filter((name) => !varied.has(name) && !ofScenario.includes(name));
}
