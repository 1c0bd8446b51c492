import { type AdviceId, adviceTable } from "../domain/advice.js";
import { outcomes } from "../domain/outcomes.js";
import type { AdviceExample, Counts } from "../sandbox/counters.js";
import type { Runtime } from "../sandbox/runtime.js";
import type { Coverage, Report, ReportedAdvice, ReportedPath, ReportedRequest } from "./report.js";
import { howToCover } from "./reproduce.js";
import { suggestEndpoint } from "./suggest-endpoint.js";

/**
 * Builds the report of all clients of a runtime: over every world that ran there, since the start or since the requests were
 * cleared. How to cover a path holds for the world that runs now.
 */
export function reportOf({ world, counters }: Pick<Runtime, "world" | "counters">): Report {
  const running = world();
  const counted = counters.read();
  const hints = howToCover(running, counters.curlOptions);
  const paths = outcomes.map(({ path: pathId, promised, when }): ReportedPath => {
    const count = counted.paths[pathId];
    const met = count > 0;
    return { pathId, promised, met, count, when, howToMeet: met ? null : hints(pathId) };
  });
  return {
    scenario: running.name,
    seed: running.seed,
    profile: running.profile,
    requests: counted.requests,
    coverage: coverageOf(paths),
    paths,
    advice: adviceIn(counted, running.preview),
  };
}

function coverageOf(paths: readonly ReportedPath[]): Coverage {
  const promised = paths.filter((row) => row.promised);
  const met = promised.filter((row) => row.met).length;
  return { percent: Math.floor((met * 100) / promised.length), met, promised: promised.length };
}

function adviceIn({ advice }: Counts, preview: boolean): ReportedAdvice[] {
  return adviceTable
    .filter(({ id }) => advice[id].count > 0)
    .map(({ id, level, rule, meaning, whatToDo }) => {
      const { count, examples } = advice[id];
      return {
        id,
        level,
        rule,
        count,
        meaning,
        whatToDo,
        examples: examples.map((one) => requestOf(one, id, preview)),
      };
    });
}

function requestOf(example: AdviceExample, id: AdviceId, preview: boolean): ReportedRequest {
  const suggestion =
    id === "wrong-method-or-path" ? suggestEndpoint(example.method, example.path, preview) : undefined;
  return { ...example, at: new Date(example.at).toISOString(), didYouMean: suggestion ?? null };
}
