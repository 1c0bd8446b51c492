import { join } from "node:path";
import { type Exchange, path } from "./job.js";
import type { Peer } from "./peer.js";

/** The stub mapping of a key: https://wiremock.org/docs/request-matching/ and https://wiremock.org/docs/stubbing/. */
export function mappingOf({ key, status, body }: Exchange): object {
  return {
    request: { method: "GET", urlPath: path, headers: { "X-Api-Key": { equalTo: key } } },
    response: { status, headers: { "Content-Type": "application/json" }, body },
  };
}

// https://wiremock.org/docs/standalone/java-jar/: the command line and its flags.
export const wiremock: Peer = {
  name: "wiremock",
  title: "WireMock",
  packages: ["wiremock"],
  setUp:
    "A stub mapping for each key in one file; `java -jar` on the package's jar, as its `npx wiremock` does, with " +
    "`--no-request-journal --disable-request-logging --disable-response-templating --disable-gzip " +
    "--use-chunked-encoding never`; `--async-response-enabled` was slower. Mappings are tried one after the other.",
  files: ({ exchanges }) => ({
    "mappings/keys.json": JSON.stringify({ mappings: exchanges.map(mappingOf) }),
  }),
  start: ({ modules, port }) => ({
    program: "java",
    argv: [
      ...["-jar", join(modules, "wiremock/build/wiremock-standalone-3.13.2.jar")],
      ...["--port", String(port), "--bind-address", "127.0.0.1", "--root-dir", "."],
      ...[
        "--no-request-journal",
        "--disable-request-logging",
        "--disable-response-templating",
        "--disable-gzip",
      ],
      ...["--use-chunked-encoding", "never", "--disable-banner"],
    ],
  }),
};
