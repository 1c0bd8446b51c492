import { endpointsOf, routeAt } from "../api/routes.js";
import { nearest } from "../schema/words.js";

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
  const suggestion = `${methods.includes(method) ? method : methods[0]} ${route.path}`;
  // An announced change has ended this path.
  return suggestion === `${method} ${path}` ? undefined : suggestion;
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
