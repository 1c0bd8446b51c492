import { join } from "node:path";
import { path } from "./job.js";
import type { Peer } from "./peer.js";

// mountebank's own pages (`mb`, then http://localhost:2525/docs/api/injection and /docs/protocols/http): `state` is kept
// between calls, and a `Connection` header of the response keeps the connection.
const lookUp = `(config) => {
  config.state.answers ??= JSON.parse(require("fs").readFileSync("answers.json", "utf8"));
  const { headers } = config.request;
  return config.state.answers[headers["x-api-key"] ?? headers["X-Api-Key"]];
}`;

export const mountebank: Peer = {
  name: "mountebank",
  title: "mountebank",
  packages: ["mountebank"],
  setUp:
    "An `inject` response (JavaScript in its configuration), which looks the answer up by the key in the imposter's `state`; " +
    "a stub with a predicate for each key was slower. `--nologfile --loglevel error --allowInjection --localOnly`, " +
    "connections kept by a `Connection` header.",
  files: ({ exchanges }, port) => {
    const headers = { "Content-Type": "application/json", Connection: "keep-alive" };
    const answers = Object.fromEntries(
      exchanges.map(({ key, status, body }) => [key, { statusCode: status, headers, body }]),
    );
    const imposter = {
      port,
      protocol: "http",
      host: "127.0.0.1",
      stubs: [{ predicates: [{ equals: { method: "GET", path } }], responses: [{ inject: lookUp }] }],
    };
    return {
      "answers.json": JSON.stringify(answers),
      "imposters.json": JSON.stringify({ imposters: [imposter] }),
    };
  },
  start: ({ node, modules, spare }) => ({
    program: node,
    argv: [
      join(modules, "mountebank/bin/mb"),
      ...["start", "--configfile", "imposters.json", "--noParse", "--port", String(spare)],
      ...["--nologfile", "--loglevel", "error", "--allowInjection", "--localOnly", "--host", "127.0.0.1"],
    ],
  }),
};
