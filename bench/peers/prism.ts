import { join } from "node:path";
import { path } from "./job.js";
import type { Peer } from "./peer.js";

// https://github.com/stoplightio/prism/blob/master/docs/guides/01-mocking.md: static responses, `Prefer: code=…, example=…`.
export const prism: Peer = {
  name: "prism",
  title: "Prism",
  caveat: "told which answer to give",
  packages: ["@stoplight/prism-cli"],
  setUp:
    "**Cannot choose an answer by the key**: each request says in a `Prefer` header which status and example it wants. " +
    "An OpenAPI document with an example for each key, static mode, `--verboseLevel silent --cors=false`, one process (`--multiprocess` was slower).",
  files: ({ exchanges }) => {
    const responses: Record<string, object> = {};
    for (const status of new Set(exchanges.map((one) => one.status))) {
      const ofStatus = exchanges.filter((one) => one.status === status);
      const examples = Object.fromEntries(
        ofStatus.map(({ ref, body }) => [ref, { value: JSON.parse(body) }]),
      );
      responses[status] = {
        description: `Answers with ${status}`,
        content: { "application/json": { schema: { type: "object" }, examples } },
      };
    }
    const document = {
      openapi: "3.1.0",
      info: { title: "Key states", version: "1" },
      paths: { [path]: { get: { responses } } },
    };
    return { "openapi.json": JSON.stringify(document) };
  },
  start: ({ node, modules, port }) => ({
    program: node,
    argv: [
      join(modules, "@stoplight/prism-cli/dist/index.js"),
      ...["mock", "openapi.json", "--host", "127.0.0.1", "--port", String(port)],
      ...["--verboseLevel", "silent", "--cors=false", "--multiprocess=false"],
    ],
  }),
  headerLine: ({ status, ref }) => `Prefer: code=${status}, example=${ref}`,
};
