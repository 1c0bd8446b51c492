import type { Endpoint } from "../api/endpoint.js";
import { effectAt, type FaultPathId, isIdempotent } from "../rules/fault-effects.js";
import { isSuccess, type PathId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { CausePoint, Reason } from "./result.js";

// The rule of evidence: how a command ended shows something only if the run reached what the baseline reached, and if what the
// run was for happened. Everything else is "not tried".

/** The requests with one key in one sandbox of a run. */
export interface SentCount {
  readonly key: string;
  /** Whether no sandbox has the key. A run with another seed sends another one in its place. */
  readonly isUnknown?: boolean;
  /** The number of sandboxes with an earlier first request with this key. A reset starts another sandbox. */
  readonly nth: number;
  /** Where the requests ended, or would have ended without a fault, promise or experiment of the run. */
  readonly paths: readonly PathId[];
}

/** What the requests of a run show. */
export interface RunFacts {
  readonly sent: readonly SentCount[];
  /** The points where responses differed from `minimal`. */
  readonly points: readonly CausePoint[];
  /** The number of requests that the fault, promise or experiment of the run hit. */
  readonly hits: number;
  /** Where the client's tests set the seed of a sandbox to another one than the run's, as a sentence. */
  readonly pinned?: string | undefined;
}

/** What must happen in a run, besides the requests of the baseline. */
export type Purpose = "requests" | "points" | "fault" | "promise";

const rerun =
  "Turn off what runs only some of your tests, or none, such as `--rerun-tasks` of Gradle, `--force` of Turborepo, `--skip-nx-cache` of Nx, or `--no-cache`, and leave out `--onlyChanged`.";

const happenings: Readonly<Record<Exclude<Purpose, "requests">, readonly [why: string, whatToDo: string]>> = {
  points: [
    "no response differed from `minimal`",
    "Leave out what your tests set themselves, such as assumptions.",
  ],
  fault: ["the fault hit no request", "Send the requests of `minimal` to the sandbox, and not to a copy."],
  promise: ["the client got no response with it", "Send the requests that show it, which end on {path}."],
};

/** Returns why a run shows nothing although its command ended with 0; `undefined` if it is evidence. */
export function whyNoEvidence(
  baseline: Pick<RunFacts, "sent">,
  run: RunFacts,
  purpose: Purpose,
  path = "them",
): Reason | undefined {
  const missing = missingIn(baseline, run);
  if (run.sent.length === 0 && missing.length > 0)
    return { why: "the command sent no request (a cache of your test runner?)", whatToDo: rerun };
  if (purpose === "points" && run.pinned !== undefined)
    return { why: run.pinned, whatToDo: "Leave the seed out: the sandbox then has the run's." };
  const hasHappened = purpose === "points" ? run.points.length > 0 : run.hits > 0;
  if (purpose !== "requests" && !hasHappened) {
    const [why, whatToDo] = happenings[purpose];
    return { why, whatToDo: whatToDo.replace("{path}", path) };
  }
  if (missing.length === 0) return undefined;
  const most = missing.length > maxNamed ? [...missing.slice(0, maxNamed), "others"] : missing;
  const why = `the command did not send what it sends in \`minimal\`: ${listed(most, "and")}`;
  return { why, whatToDo: `Send the same keys to the same endpoints in each run. ${rerun}` };
}

const maxNamed = 3;

/** What the baseline sent and the run did not, as in "`active` (200.test)". */
function missingIn(baseline: Pick<RunFacts, "sent">, run: Pick<RunFacts, "sent">): string[] {
  const sent = new Set(run.sent.flatMap(requestsOf));
  return [...new Set(baseline.sent.flatMap(requestsOf))].filter((request) => !sent.has(request));
}

function requestsOf({ key, isUnknown = false, paths }: SentCount): string[] {
  const name = isUnknown || key === "" ? "" : `\`${key}\` `;
  return paths.map((path) => (name === "" ? `a request that ends on ${path}` : `${name}(${path})`));
}

/** What the writes of a run show. */
export interface Writes {
  /** The paths of writes that a client must not simply repeat: POST and PATCH. */
  readonly once: ReadonlySet<PathId>;
}

export const noWrites: Writes = { once: new Set() };

export function collectWrites(endpoints: readonly Endpoint[]) {
  const once = new Set<PathId>();
  return {
    once,
    add(exchange: Exchange): void {
      const { operation, pathId, method } = exchange;
      const isKnown = endpoints.some(({ operationId }) => operationId === operation);
      if (isKnown && isSuccess(pathId) && !isIdempotent(method)) once.add(pathId);
    },
  };
}

/** The paths where the exit code of a run with this fault shows something about the client: others may give up. */
export function judgedPaths(paths: readonly PathId[], fault: FaultPathId, { once }: Writes): PathId[] {
  return paths.filter((path) => effectAt(fault).onlyDelays || !once.has(path));
}
