import { signal } from "@preact/signals";

/** The part of the address that says which view is shown, and of what. */
export interface PageRoute {
  /** The name of the view: `requests` in `#/requests/req_1?status=401`. */
  readonly view: string;
  /** The parts behind it, decoded: `["req_1"]`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

function routeIn(hash: string): PageRoute {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...parts] = path.split("/");
  return {
    view: view === "" ? "overview" : view,
    parts: parts.map(decoded),
    query: new URLSearchParams(query),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The view that the address names. */
export const route = signal(routeIn(location.hash));

addEventListener("hashchange", () => {
  route.value = routeIn(location.hash);
});

/** The address of a view, for `href`; members of the query that are empty are left out. */
export function linkTo(
  view: string,
  parts: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const text = new URLSearchParams(given).toString();
  return `#/${[view, ...parts.map(encodeURIComponent)].join("/")}${text === "" ? "" : `?${text}`}`;
}

/** Changes the query of the address in place: a reload shows the same, and there is no step back for each letter. */
export function changeQuery(change: Readonly<Record<string, string | undefined>>): void {
  const { view, parts, query } = route.value;
  history.replaceState(null, "", linkTo(view, parts, { ...Object.fromEntries(query), ...change }));
  route.value = routeIn(location.hash);
}
