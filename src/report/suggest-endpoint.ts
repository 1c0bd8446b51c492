import { endpointsOf, routeAt } from "../api/routes.js";
import { nearest } from "../schema/words.js";

/**
 * Suggests a method and path of the API for an unknown one; `undefined` if none is similar. Suggests endpoints of the preview
 * only with the preview (R49).
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
  // The same endpoint under another parent, or with a suffix.
  const related = (one: string) =>
    nameOf(asked) === nameOf(one) || asked.startsWith(`${one}/`) || asked.startsWith(`${one}.`);
  return paths.find(related) ?? nearest(asked, paths);
}
