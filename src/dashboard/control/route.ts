import { Shared } from "./shared.js";

/** The part of the address that selects the view and its content. */
function routeIn(hash: string) {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  // A path of the control plane with dots would be another one.
  const words = path
    .split("/")
    .map(decoded)
    .filter((part) => /[^.]/.test(part));
  const [view = "overview", ...parts] = words;
  return { view, parts, query: new URLSearchParams(query) };
}

/** A part of an address as text; unchanged if it is not encoded, such as `50%`. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Shared(routeIn(location.hash));

addEventListener("hashchange", () => {
  route.value = routeIn(location.hash);
});

const looksLikeSecret = /svc_(test|live)_\w/i;

/** A text for an address, which must not contain a secret: empty if it looks like one. */
export const withoutSecret = (text: string) => (looksLikeSecret.test(text) ? "" : text);

type Query = Readonly<Record<string, string | undefined>>;

/** The address of a view. Empty members of the query are left out. */
export function linkTo(view: string, parts: readonly string[] = [], query: Query = {}): string {
  const filled = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const text = new URLSearchParams(filled).toString();
  return `#/${[view, ...parts.map(encodeURIComponent)].join("/")}${text && `?${text}`}`;
}

/** The address of another part of the view; the query stays, but for its changes. */
export function linkWithin(parts: readonly string[], change: Query = {}): string {
  const { view, query } = route.value;
  return linkTo(view, parts, { ...Object.fromEntries(query), ...change });
}

/** A key in its list, which finds it however long it is. */
export const linkToKey = (ref: string) => linkTo("keys", [ref], { filter: ref });

/** Changes the query of the address in place. A reload shows the same view, without one history entry per letter. */
export function changeQuery(change: Query): void {
  history.replaceState(history.state, "", linkWithin(route.value.parts, change));
  route.value = routeIn(location.hash);
}
