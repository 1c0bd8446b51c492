import { SandboxError } from "../../../rules/errors.js";
import { redactPath } from "../../../rules/keys/redact.js";
import { throwIfProblems } from "../../../rules/validation.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import * as s from "../../../schema/shape.js";
import { toShownError } from "../control-errors.js";
import type { ControlServer, HttpCall, Route } from "../route.js";
import { checkedQuery, controlRoute, dataRoute } from "../route.js";
import { nextChangeAt } from "../upcoming.js";
import { requireReady } from "./sandbox.js";

// How a page keeps up to date with one call each second: it asks for all that it shows, and gets it only once something has changed.

/** More calls in one would delay the requests of clients. */
const maxPaths = 50;

export const revisionRoute: Route = dataRoute("GET /revision", {
  summary: "A text that differs once another call shows a change, except of a running clock",
  run({ sandbox }, { server }) {
    requireReady(server);
    return revisionOf(sandbox, server);
  },
});

/** The call that reads others of these routes. */
export function changesRoute(routes: readonly Route[]): Route {
  return controlRoute("GET /changes", {
    summary:
      "The responses of several GET calls in one; none of them if nothing has changed since `revision`",
    query: s.mapping({
      paths: s.optional(
        s.described(
          s.text(),
          "At most 50 calls, such as `/clock /requests?limit=5`, with spaces between them.",
        ),
      ),
      revision: s.optional(
        s.described(s.text(), "The revision that the caller knows. Default: none, so all calls are made."),
      ),
    }),
    async run({ sandbox, query }, call) {
      requireReady(call.server);
      const { paths = "", revision: known } = query;
      const revision = revisionOf(sandbox, call.server);
      const asked = new Set(paths.split(" ").filter(Boolean));
      const isTooMuch = asked.size > maxPaths;
      throwIfProblems("read the changes", {
        paths: isTooMuch ? `must be at most ${maxPaths} calls` : undefined,
      });
      const responses: Record<string, unknown> = {};
      if (revision !== known) {
        for (const path of asked) responses[path] = await read(routes, path, sandbox, call);
      }
      return { kind: "json", status: 200, json: { data: { revision, responses } } };
    },
  });
}

/** A text that differs once a view differs: by an event, by time, by a response that was not read, or by a failed save. */
function revisionOf(sandbox: SandboxState, { startId, stateFile }: ControlServer): string {
  const parts = [
    // The numbers of events start again with the process.
    startId,
    sandbox.journal.latestNumber(),
    nextChangeAt(sandbox),
    sandbox.counters.unread(),
    stateFile?.isUnwritable() ?? false,
  ];
  return parts.join(" ");
}

/** The JSON of a GET call, also of one that is rejected. A text, such as a scenario, is its `data`. */
async function read(routes: readonly Route[], address: string, sandbox: SandboxState, call: HttpCall) {
  try {
    const [path = "", ...queryParts] = address.split("?");
    const queryText = queryParts.join("?"); // only the first one begins the query
    const { route, params } = readableRoute(routes, path);
    const query = checkedQuery(route, Object.fromEntries(new URLSearchParams(queryText)));
    const result = await route.run({ sandbox, params, query, body: {} }, call);
    if (result.kind === "json") return result.json;
    if (result.kind === "text") return { data: result.text };
    throw unknownPath(path);
  } catch (error) {
    const { code, message, details } = toShownError(error, call.server.onDefect);
    return { error: { code, message, details } };
  }
}

/** The GET route of a path, with its named parts. */
function readableRoute(routes: readonly Route[], path: string) {
  const sent = path.split("/");
  for (const route of routes) {
    const described = route.path.split("/");
    if (route.method !== "GET" || described.length !== sent.length) continue;

    const params: Record<string, string> = {};
    const isSame = described.every((part, index) => {
      const word = sent[index] as string; // the two have as many parts
      const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
      if (name === undefined) return part === word;
      try {
        params[name] = decodeURIComponent(word);
      } catch {
        params[name] = word;
      }
      return true;
    });
    if (isSame) return { route, params };
  }
  throw unknownPath(path);
}

function unknownPath(path: string): SandboxError {
  return new SandboxError("not_found", `The control plane has no data at ${redactPath(path)}.`);
}
