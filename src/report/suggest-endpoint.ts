import { routeAt } from "../api/routes.js";
import type { ApiRoute, Endpoint } from "../sandbox/call.js";
import { nearest } from "../schema/words.js";

/**
 * Suggests a method and path of the API for an unknown one; `undefined` if none of these endpoints is similar.
 *
 * @example
 * suggestEndpoint("GET", "/v1/Relying-Party/me/", endpoints); // "GET /v1/relying-party/me"
 */
export function suggestEndpoint(
  method: string,
  path: string,
  endpoints: readonly Endpoint[],
): string | undefined {
  const route = routeAt(endpoints, path) ?? similarRoute(path, endpoints);
  if (route === undefined) return undefined;

  const methods = [...route.methods.keys()];
  const suggestedMethod = methods.includes(method) ? method : methods[0];
  const suggestion = `${suggestedMethod} ${route.path}`;
  // The API has the method and path now. It did not when the request was sent, in another scenario.
  if (suggestion === `${method} ${path}`) return undefined;
  return suggestion;
}

function similarRoute(path: string, endpoints: readonly Endpoint[]): ApiRoute | undefined {
  const similarPath = findSimilarPath(
    path,
    endpoints.map((endpoint) => endpoint.path),
  );
  if (similarPath === undefined) return undefined;
  // The path of an endpoint also reaches its route: `/things/{id}` as a request has `{id}` as the value of its parameter.
  return routeAt(endpoints, similarPath);
}

/** The path of an endpoint that is like this one, in whatever case. */
function findSimilarPath(path: string, endpointPaths: readonly string[]): string | undefined {
  const plainPath = plain(path);

  // The same endpoint under another parent: `/v2/me`.
  const lastSegment = lastSegmentOf(plainPath);
  for (const endpointPath of endpointPaths) {
    if (lastSegmentOf(plain(endpointPath)) === lastSegment) return endpointPath;
  }

  // A typing error: `/v1/relying-party/mee`.
  const nearestPath = nearest(plainPath, endpointPaths);
  if (nearestPath !== undefined) return nearestPath;

  // The endpoint with something behind it: `/v1/relying-party/me.json`. Of several, the longest has the least behind it.
  let longestStart: string | undefined;
  for (const endpointPath of endpointPaths) {
    const start = plain(endpointPath);
    const isStart = plainPath.startsWith(`${start}/`) || plainPath.startsWith(`${start}.`);
    if (isStart && start.length > (longestStart?.length ?? 0)) longestStart = endpointPath;
  }
  return longestStart;
}

/** A path as it is compared: `/v1/items` of `/V1//Items/`. */
function plain(path: string): string {
  return path.toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
}

function lastSegmentOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
