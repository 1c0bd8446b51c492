/** Reads a URL of HTTP without a user; `undefined` for anything else. */
export function readHttpUrl(text: string): URL | undefined {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return undefined;
  const url = new URL(trimmed);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  return url;
}

/** Reads the base URL of a service, which has no query; returns it without slashes, and without an empty query or fragment, at its end. `undefined` for anything else. */
export function readBaseUrl(text: string): string | undefined {
  const url = readHttpUrl(text);
  if (url === undefined || url.search !== "" || url.hash !== "") return undefined;
  return url.href.replace(/[/?#]+$/, "");
}
