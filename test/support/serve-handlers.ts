import { HttpResponse, http } from "msw";
import { onTestFinished } from "vitest";
import { guard } from "../../src/library/guard.js";
import type { UserHandlers } from "../../src/node/server/custom-handlers.js";
import { startServer } from "../../src/node/server/start-server.js";

export const attestations = "/v1/relying-party/attestations";

/** Serves a sandbox with handlers of a user beside it, until the test is over. */
export async function serve(
  handlers: UserHandlers,
  options: { scenario?: "key-states" | "rate-limited" } = {},
) {
  const defects: unknown[] = [];
  const server = await startServer({
    frozen: true,
    ...options,
    handlers,
    onDefect: (error) => void defects.push(error),
  });
  onTestFinished(() => server.close(0));
  const port = Number(new URL(server.url).port);
  const call = (path: string, init?: RequestInit) => fetch(server.url + path, init);
  return { ...server, port, defects, call };
}

/** A handler of an endpoint that is guarded as the API's own are. */
export const listed = http.get(attestations, ({ request }) => {
  const { refusal, caller } = guard(request, { scope: "attestations:read" });
  return refusal ?? HttpResponse.json({ data: [], bank: caller.organization.name });
});
