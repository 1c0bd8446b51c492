import { endpointsOf, routeAt } from "../api/routes.js";
import { nearest } from "../scenario/problems/words.js";

/**
 * Suggests a method and path of the API for a request that it does not have; `undefined` when none is near. Those of the
 * preview are suggested only where there is one (R49).
 *
 * @example
 * suggestEndpoint("GET", "/v1/Relying-Party/me/"); // "GET /v1/relying-party/me"
 */
export function suggestEndpoint(method: string, path: string, preview = false): string | undefined {
  const route = routeAt(path, preview)?.path ?? nearestPath(path, preview);
  if (route === undefined) return undefined;
  const methods = [...(routeAt(route, preview)?.methods.keys() ?? [])];
  return `${methods.includes(method) ? method : methods[0]} ${route}`;
}

function nearestPath(path: string, preview: boolean): string | undefined {
  const paths = endpointsOf(preview).map((endpoint) => endpoint.path);
  const asked = plain(path);
  return (
    paths.find((one) => isPartOf(asked, one)) ?? nearest(asked, paths) ?? neighbour(asked, preview, paths)
  );
}

// A base URL with a path of its own, a path cut short, or one continued.
function isPartOf(asked: string, path: string): boolean {
  if (asked.endsWith(path) || (asked.length > 1 && path.endsWith(asked))) return true;
  return asked.startsWith(`${path}/`) || asked.startsWith(`${path}.`);
}

// A sibling of the endpoint, or its name under another parent. With the preview a sibling is ambiguous.
function neighbour(asked: string, preview: boolean, paths: readonly string[]): string | undefined {
  return paths.find((one) => {
    const [parent, name] = cutName(one);
    const [askedParent, askedName] = cutName(asked);
    return (askedParent === parent && !preview && !isAnnounced(asked)) || (askedName === name && name !== "");
  });
}

// An endpoint that is announced is no mistake (R49).
function isAnnounced(path: string): boolean {
  return endpointsOf(true).some((one) => one.preview === true && one.path.split("/{")[0] === path);
}

function cutName(path: string): readonly [parent: string, name: string] {
  const end = path.lastIndexOf("/");
  return [path.slice(0, end), path.slice(end + 1)];
}

function plain(path: string): string {
  return path.toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
}
