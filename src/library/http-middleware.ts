/**
 * Whether a request comes from @mswjs/http-middleware rather than from a client of this process.
 *
 * Such a one has the `Host` of the client that sent it, which clients leave to the network, and no credentials.
 */
export function isInMiddleware({ credentials, headers }: Request): boolean {
  return credentials === "omit" && headers.has("host");
}
