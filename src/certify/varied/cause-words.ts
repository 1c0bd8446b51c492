import type { VariedPoint } from "../../sandbox/variants.js";
import { listed } from "../../schema/words.js";
import type { Finding } from "../checks/judgment.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { rowRemedy, variantWords } from "../client-runs/seen-requests.js";

/** A row of the variation table, such as `etag`, that breaks a run alone, and without which the run passes. */
export interface RowCause {
  readonly row: string;
  /** What varied when it failed alone: each point is a variant of the row on the responses of one status. */
  readonly points: readonly VariedPoint[];
  /** The run in which only this row varied. */
  readonly shownBy: ClientRun;
}

/** The row of times to wait: a client that waits as long as a response asks may not end in time. */
export const retryAfterRow = "retry_after";

/** Why varied runs fail, in words: one row of variants, the seed, or nothing that certify can tell. */
export interface WordedCause extends Pick<Finding, "sentence" | "whatToDo" | "row" | "points"> {
  /** The run that shows it: only its row varied there, if it has one. */
  readonly shownBy: ClientRun;
  /** The runs that fail for it, in the order of their seeds. */
  readonly failed: readonly ClientRun[];
}

type CauseWords = Pick<WordedCause, "sentence" | "whatToDo">;

export function causeByRow({ row, points, shownBy }: RowCause, failed: readonly ClientRun[]): WordedCause {
  return { row, points, ...rowWords(row, points, shownBy), shownBy, failed };
}

function rowWords(row: string, points: readonly VariedPoint[], shownBy: ClientRun): CauseWords {
  const isLate = shownBy.result === "timed_out";
  // The client reads the header, and does what it asks for.
  if (isLate && row === retryAfterRow) return longWaitWords(shownBy);

  // As in "each of a 200 and a 401 has an `ETag`".
  const statuses = new Set<string>();
  const variants = new Set<string>();
  for (const { status, variant } of points) {
    statuses.add(`a ${status}`);
    const words = variantWords(row, variant);
    if (words !== undefined) variants.add(words);
  }
  let responses = listed([...statuses].sort(), "and");
  if (statuses.size > 1) responses = `each of ${responses}`;
  const when = `when ${responses} ${listed([...variants], "or")}`;

  const remedy = rowRemedy(row);
  if (!isLate) return { sentence: `Breaks ${when}`, whatToDo: remedy };
  return { sentence: `Does not end in time ${when}`, whatToDo: `${remedy} ${limitWait}` };
}

const limitWait = "Limit how long your client waits. If it may wait that long, set a longer --timeout.";

/** The words of a client that waits as long as `Retry-After` asks, which is longer than its run may take. */
function longWaitWords({ lastAskedWait, timeouts }: ClientRun): CauseWords {
  const sentenceStart = `Waits longer than ${Math.round(timeouts.total / 1000)} s, as \`Retry-After\` of`;
  if (lastAskedWait === undefined) return { sentence: `${sentenceStart} a 429 asks`, whatToDo: limitWait };

  const { outcome, status, seconds } = lastAskedWait;
  const asks = `asks: ${inThousands(seconds)} s`;
  if (outcome !== "429.per_day") {
    return { sentence: `${sentenceStart} a ${status} ${asks}`, whatToDo: limitWait };
  }
  return {
    sentence: `${sentenceStart} a daily limit ${asks}`,
    whatToDo:
      "Limit how long your client waits, and tell its caller of the limit: a day is too long. Or test it with a key that is limited by the minute.",
  };
}

function inThousands(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function causeBySeed(failed: readonly ClientRun[]): WordedCause {
  const isLate = failed.every(({ result }) => result === "timed_out");
  const endWords = isLate ? "Does not end in time" : "Fails";
  return {
    shownBy: failed[0] as ClientRun, // it is about a run
    sentence: `${endWords} with ${seedWords(failed)} even when nothing is varied`,
    whatToDo:
      "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
    failed,
  };
}

/** The words of runs whose cause no search has found. `searched`: those that were searched; only these are sure. */
export function unknownCause(searched: readonly ClientRun[], failed: readonly ClientRun[]): WordedCause {
  const shownBy = searched[0] as ClientRun; // it is about a run
  const { lastRequest } = shownBy;
  // Where nothing varied, no row was tried.
  const isAnyRowTried = searched.some(({ points }) => points.length > 0);
  let sentence = `The command ${howRunsEnd(searched)}`;
  sentence += isAnyRowTried
    ? ": no single row of varied responses brings it back"
    : ", before any response varied";

  let whatToDo = "Look at what the command prints: it got no response.";
  if (lastRequest) {
    const { outcome, id } = lastRequest;
    whatToDo = `Look at what the command prints, and at the last response (${outcome}, ${id}).`;
  }
  return { shownBy, sentence, whatToDo, failed };
}

/** As in "fails with exit code 1 with seeds 2 and 3 and does not end in time with seed 5". */
function howRunsEnd(runs: readonly ClientRun[]): string {
  const runsByEnd = new Map<string, ClientRun[]>();
  for (const run of runs) {
    const end = run.result === "timed_out" ? "does not end in time" : `fails with exit code ${run.code}`;
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
