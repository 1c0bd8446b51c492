import { routeAt } from "../api/endpoints.js";
import type { Endpoint } from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { nearest } from "../schema/words.js";

/**
 * Suggests a method and path of the API for an unknown one; `undefined` if no endpoint of the sandbox is similar.
 *
 * @example
 * suggestEndpoint("GET", "/v1/Relying-Party/me/", sandbox); // "GET /v1/relying-party/me"
 */
export function suggestEndpoint(
  method: string,
  path: string,
  { endpoints, routes }: Pick<SandboxState, "endpoints" | "routes">,
): string | undefined {
  // The path of an endpoint also reaches its route: `/things/{id}` as a request has `{id}` as the value of its parameter.
  const similarPath = findSimilarPath(path, endpoints);
  const route = routeAt(routes, path) ?? (similarPath && routeAt(routes, similarPath));
  if (!route) return undefined;

  const methods = [...route.methods.keys()];
  const suggestedMethod = methods.includes(method) ? method : methods[0];
  const suggestion = `${suggestedMethod} ${route.path}`;
  // The API has the method and path now. It did not when the request was sent, in another scenario.
  if (suggestion === `${method} ${path}`) return undefined;
  return suggestion;
}

/** The path of an endpoint that is like this one, in whatever case. */
function findSimilarPath(path: string, endpoints: readonly Endpoint[]): string | undefined {
  // `/v1/items` of `/V1//Items/`.
  const plain = (written: string) => written.toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
  const lastSegmentOf = (written: string) => written.slice(written.lastIndexOf("/") + 1);
  const endpointPaths = endpoints.map((endpoint) => endpoint.path);
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
