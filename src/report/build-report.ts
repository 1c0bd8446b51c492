import { endpointsOf, routeAt } from "../api/routes.js";
import { pinnedAssumptions } from "../api/variation/vary.js";
import { adviceTable } from "../domain/advice.js";
import { isFault, outcomeOf, outcomes } from "../domain/outcomes.js";
import type { Runtime } from "../sandbox/runtime.js";
import { nearest } from "../schema/words.js";
import type { Report, ReportedPath } from "./report.js";
import { howToCover } from "./reproduce.js";

/**
 * Builds the report of all clients of a runtime: over every world that ran there, since the start or since the requests were
 * cleared. How to cover a path holds for the world that runs now;
 * `underExec` says that the report comes when `exec` has stopped it.
 */
export function reportOf(
  { world, counters }: Pick<Runtime, "world" | "counters">,
  { underExec = false }: { underExec?: boolean } = {},
): Report {
  const running = world();
  const counted = counters.read();
  const hints = howToCover(running, { curlOptions: counters.curlOptions, underExec });
  const paths = outcomes.map(({ path: pathId, promised, when }): ReportedPath => {
    const { count, previewCount, isMet: met } = counted.paths[pathId];
    return { pathId, promised, met, count, previewCount, when, howToMeet: met ? null : hints(pathId) };
  });
  const advice = adviceTable.map(({ id, level, rule, meaning, whatToDo }) => {
    const { count, examples } = counted.advice[id];
    const requests = examples.map((request) => {
      const suggestion =
        id === "wrong-method-or-path" && suggestEndpoint(request.method, request.path, running.preview);
      return { ...request, at: new Date(request.at).toISOString(), didYouMean: suggestion || null };
    });
    return { id, level, rule, count, meaning, whatToDo, examples: requests };
  });
  return {
    scenario: running.name,
    seed: running.seed,
    profile: running.profile,
    pinned: pinnedAssumptions(running),
    requests: counted.requests,
    unread: counted.unread,
    ...sharesOf(paths, running.preview),
    paths,
    advice: advice.filter(({ count }) => count > 0),
  };
}

/** Returns the shares of the paths that were met: of the promised ones, of the faults, and of those of the preview. */
export function sharesOf(
  paths: readonly ReportedPath[],
  hasPreview: boolean,
): Pick<Report, "coverage" | "faults" | "preview"> {
  const share = (chosen: readonly ReportedPath[]) => ({
    met: chosen.filter((row) => row.met).length,
    total: chosen.length,
  });
  const { met, total: promised } = share(paths.filter((row) => row.promised));
  const isAnnounced = hasPreview || paths.some(({ previewCount }) => previewCount > 0);
  return {
    coverage: { percent: Math.floor((met * 100) / promised), met, promised },
    faults: share(paths.filter(({ pathId }) => isFault(pathId))),
    preview: isAnnounced ? share(paths.filter(({ pathId }) => outcomeOf(pathId).preview === true)) : null,
  };
}

/**
 * Suggests a method and path of the API for a request that it does not have; `undefined` when none is near. Those of the
 * preview are suggested only where there is one (R49).
 *
 * @example
 * suggestEndpoint("GET", "/v1/Relying-Party/me/"); // "GET /v1/relying-party/me"
 */
export function suggestEndpoint(method: string, path: string, preview = false): string | undefined {
  const route = routeAt(path, preview) ?? routeAt(nearestPath(path, preview) ?? "", preview);
  if (route === undefined) return undefined;
  const methods = [...route.methods.keys()];
  return `${methods.includes(method) ? method : methods[0]} ${route.path}`;
}

function nearestPath(path: string, preview: boolean): string | undefined {
  const paths = endpointsOf(preview).map((endpoint) => endpoint.path);
  const asked = path.toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
  const nameOf = (one: string) => one.slice(one.lastIndexOf("/") + 1);
  // The same endpoint under another parent, or continued.
  const related = (one: string) =>
    nameOf(asked) === nameOf(one) || asked.startsWith(`${one}/`) || asked.startsWith(`${one}.`);
  return paths.find(related) ?? nearest(asked, paths);
}
