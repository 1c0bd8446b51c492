import { join } from "node:path";
import type { Exchange } from "./job.js";
import type { Peer } from "./peer.js";

/** The answers by their keys, as the programs of json-server and msw read them. */
export function answersFile(exchanges: readonly Exchange[]): string {
  return JSON.stringify(
    Object.fromEntries(exchanges.map(({ key, status, body }) => [key, { status, body: JSON.parse(body) }])),
  );
}

// https://github.com/typicode/json-server/tree/v0.17.4#module: "Custom routes example".
export const jsonServer: Peer = {
  name: "json-server",
  title: "json-server",
  caveat: "a route of one's own",
  packages: ["json-server"],
  setUp:
    "**Cannot choose by a header by itself**: a custom route in its module form (a program), which looks the answer up " +
    "by the key in a `Map`; no logger, no CORS, read-only.",
  files: ({ exchanges }) => ({ "answers.json": answersFile(exchanges) }),
  start: ({ node, programs, port }) => ({
    program: node,
    argv: [join(programs, "json-server.js"), "answers.json", String(port)],
  }),
};
