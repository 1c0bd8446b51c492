import { HttpResponse, http } from "msw";
import { guard } from "../../src/index.js";
import type { UserHandlers } from "../../src/server/index.js";
import { served } from "../support/servers.js";

export const attestations = "/v1/relying-party/attestations";

/** Serves a sandbox with custom handlers until the test is over. */
export async function serve(
  handlers: UserHandlers,
  options: { scenario?: "key-states" | "rate-limited"; maxBody?: number } = {},
) {
  const defects: unknown[] = [];
  const server = await served({
    frozen: true,
    ...options,
    handlers,
    onDefect: (error) => void defects.push(error),
  });
  const port = Number(new URL(server.url).port);
  const call = (path: string, init?: RequestInit) => fetch(server.url + path, init);
  return Object.assign(server, { port, defects, call });
}

/** A handler of an endpoint that is guarded like the API's own. */
export const listed = http.get(attestations, ({ request }) => {
  const { rejection, caller } = guard(request, { scope: "attestations:read" });
  return rejection ?? HttpResponse.json({ data: [], bank: caller.organization.name });
});
