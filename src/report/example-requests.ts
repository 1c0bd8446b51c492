import { routeAt } from "../api/routes.js";
import { mePath } from "../rules/known-paths.js";
import type { Endpoint } from "../sandbox/call.js";
import type { RequestToSend } from "./curl-line.js";

// Requests that reach an endpoint of a sandbox, or none of them.

/** A path that no endpoint has: a scenario may have one at `/v1/relying-party/{id}`. */
export function unknownPathOf(endpoints: readonly Endpoint[]): string {
  let path = "/v1/relying-party/nothing";
  while (routeAt(endpoints, path) !== undefined) path += "/nothing";
  return path;
}

/** A method that the path of `/me` does not accept; `undefined` if a scenario has them all. */
export function unusedMethodOfMe(endpoints: readonly Endpoint[]): string | undefined {
  const methods = routeAt(endpoints, mePath)?.methods;
  return ["DELETE", "PUT", "PATCH", "POST"].find((method) => !methods?.has(method));
}

/**
 * The method and path of a request to an endpoint. Each parameter of its path has the value 1, or the next number if another
 * endpoint is at that path: `/v1/items/{id}` has 2 if there is `/v1/items/1`.
 */
export function requestTo(
  endpoint: Endpoint,
  endpoints: readonly Endpoint[],
): Pick<RequestToSend, "method" | "path"> {
  const { method } = endpoint;
  // Each other endpoint is at one of these paths at most, so that one of as many paths as there are endpoints is free.
  let path = endpoint.path;
  for (let value = 1; value <= endpoints.length; value += 1) {
    path = withParameters(endpoint.path, value);
    const reached = routeAt(endpoints, path)?.methods.get(method);
    if (reached === endpoint) break;
  }
  return { ...(method !== "GET" && { method }), path };
}

function withParameters(path: string, value: number): string {
  return path.replace(/\{[^{}]*\}/g, String(value));
}
