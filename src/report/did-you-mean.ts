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
  return (
    paths.find((one) => isPartOf(asked, one)) ?? nearest(asked, paths) ?? neighbour(asked, preview, paths)
  );
}

// A base URL with a path of its own, one that ends too early, or one that goes on.
function isPartOf(asked: string, path: string): boolean {
  if (asked.endsWith(path) || (asked.length > 1 && path.endsWith(asked))) return true;
  return asked.startsWith(`${path}/`) || asked.startsWith(`${path}.`);
}

// Beside the endpoint, or its name at another place. With the preview there is more than one to be meant.
function neighbour(asked: string, preview: boolean, paths: readonly string[]): string | undefined {
  return paths.find((one) => {
    const [parent, name] = cutName(one);
    const [askedParent, askedName] = cutName(asked);
    return (askedParent === parent && !preview && !isAnnounced(asked)) || (askedName === name && name !== "");
  });
}

// What is not there yet is no slip (R49).
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
