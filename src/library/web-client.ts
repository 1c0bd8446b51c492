/** What sends a web `Request`. `node_http`: a client of `node:http` that msw intercepts. */
type WebClient = "fetch" | "node_http" | "middleware";

/** Who sends a request, as far as the request shows it. `middleware`: `@mswjs/http-middleware`, which serves msw's handlers from a user's own server. */
export function clientOf({ headers, credentials }: Request): WebClient {
  // `fetch` sets no `Host`. Of the others, only the middleware omits credentials.
  if (!headers.has("host")) return "fetch";
  return credentials === "omit" ? "middleware" : "node_http";
}
