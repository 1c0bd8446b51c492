import { stringify } from "yaml";
import { commandFile } from "../programs.js";
import { type Job, path } from "./job.js";

/** A mock server, set up for the job as its own documentation describes. */
export interface Peer {
  readonly title: string;
  /** The package in bench/peers/package.json whose version it has; `undefined` for the sandbox. */
  readonly package?: string;
  /** How it was set up and what it cannot do, in Markdown. */
  readonly setUp: string;
  /** Its files for the job, by their paths in its folder. */
  readonly files: (job: Job, port: number) => Readonly<Record<string, string>>;
  /** Its command; a path in it that starts with `modules/` is a package of bench/peers. */
  readonly command: (port: number) => readonly [program: string, ...argv: string[]];
}

function byKey({ exchanges }: Pick<Job, "exchanges">): string {
  return JSON.stringify(Object.fromEntries(exchanges.map(({ key, ...rest }) => [key, rest])));
}

// https://mockoon.com/docs/latest/data-buckets/overview/ and https://mockoon.com/docs/latest/templating/mockoon-response-helpers/
const mockoonTemplate =
  "{{#with (dataRaw 'responses' (header 'x-api-key')) as |response|}}{{status response.status}}{{{response.body}}}{{/with}}";

/** All that are measured, by the names that `--only` takes, in the order of the tables. */
export const peers: Readonly<Record<string, Peer>> = {
  ours: {
    title: "svc-sandbox",
    setUp: "`svc-sandbox start job.yaml --log off`, with its journal, report and control plane.",
    files: ({ scenario }) => ({ "job.yaml": stringify(scenario, { aliasDuplicateObjects: false }) }),
    command: (port) => ["node", commandFile, "start", "job.yaml", "--port", `${port}`, "--log", "off"],
  },
  // https://wiremock.org/docs/stubbing/ and https://wiremock.org/docs/standalone/java-jar/.
  wiremock: {
    title: "WireMock",
    package: "wiremock",
    setUp:
      "A stub mapping for each key in one file; `java -jar` with " +
      "`--no-request-journal --disable-request-logging --disable-response-templating --disable-gzip " +
      "--use-chunked-encoding never`; `--async-response-enabled` was slower.",
    files: ({ exchanges }) => {
      const mappings = exchanges.map(({ key, status, body }) => ({
        request: { method: "GET", urlPath: path, headers: { "X-Api-Key": { equalTo: key } } },
        response: { status, headers: { "Content-Type": "application/json" }, body },
      }));
      return { "mappings/keys.json": JSON.stringify({ mappings }) };
    },
    command: (port) => [
      "java",
      ...["-jar", "modules/wiremock/build/wiremock-standalone-3.13.2.jar", "--root-dir", "."],
      ...["--port", String(port), "--bind-address", "127.0.0.1", "--disable-banner", "--disable-gzip"],
      ...["--no-request-journal", "--disable-request-logging", "--disable-response-templating"],
      ...["--use-chunked-encoding", "never"],
    ],
  },
  mockoon: {
    title: "Mockoon CLI",
    package: "@mockoon/cli",
    setUp:
      "A data bucket with the responses; the body's template finds one by the key and also sets the status. A rule for each " +
      "key was slower. `--disable-log-to-file --disable-admin-api --max-transaction-logs 0`.",
    files: (job, port) => {
      const route = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
      const response = {
        uuid: "16fd2706-8baf-433b-82eb-8c7fada847da",
        ...{ statusCode: 200, headers: [{ key: "Content-Type", value: "application/json" }] },
        ...{ bodyType: "INLINE", body: mockoonTemplate, default: true },
      };
      const environment = {
        ...{ uuid: "0f8fad5b-d9cb-469f-a165-70867728950e", lastMigration: 33, name: "Key states" },
        ...{ port, hostname: "127.0.0.1", cors: false },
        routes: [
          { uuid: route, type: "http", method: "get", endpoint: path.slice(1), responses: [response] },
        ],
        rootChildren: [{ type: "route", uuid: route }],
        data: [
          {
            uuid: "886313e1-3b8a-5372-9b90-0c9aee199e5d",
            ...{ id: "answ", name: "responses", value: byKey(job) },
          },
        ],
      };
      return { "environment.json": JSON.stringify(environment) };
    },
    command: (port) => [
      "node",
      ...["modules/@mockoon/cli/bin/run.js", "start", "--data", "environment.json", "--repair"],
      ...["--port", String(port), "--disable-log-to-file", "--disable-admin-api"],
      ...["--max-transaction-logs", "0"],
    ],
  },
};
