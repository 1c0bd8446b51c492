import { endpointsOf, routeAt } from "../api/routes.js";
import { nearest } from "../scenario/nearest.js";

/**
 * The method and path that a request was probably meant for which the API does not have; `undefined` when none is near.
 * Those of the preview are named only where there is one (R49).
 *
 * @example
 * didYouMean("GET", "/v1/Relying-Party/me/"); // "GET /v1/relying-party/me"
 */
export function didYouMean(method: string, path: string, preview = false): string | undefined {
  const meant = routeAt(path, preview)?.path ?? nearestPath(path, preview);
  if (meant === undefined) return undefined;
  const methods = [...(routeAt(meant, preview)?.methods.keys() ?? [])];
  return `${methods.includes(method) ? method : methods[0]} ${meant}`;
}

function nearestPath(path: string, preview: boolean): string | undefined {
  const paths = endpointsOf(preview).map((endpoint) => endpoint.path);
  const asked = plain(path);
  // A base URL with a path of its own, or one that ends too early.
  const part = paths.find((one) => asked.endsWith(one) || (asked.length > 1 && one.endsWith(asked)));
  return part ?? nearest(asked, paths);
}

function plain(path: string): string {
  return path.toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
}
