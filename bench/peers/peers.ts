import { stringify } from "yaml";
import { type Exchange, type Job, path } from "./job.js";

/** A mock server, set up for the job as its own documentation describes. */
export interface Peer {
  readonly title: string;
  /** What sets its figures apart in the tables, in a few words. */
  readonly caveat?: string;
  /** The package in bench/peers/package.json whose version it has; `undefined` for the sandbox. */
  readonly package?: string;
  /** How it was set up and what it cannot do, in Markdown. */
  readonly setUp: string;
  /** Its files for the job, by their paths in its folder. */
  readonly files: (job: Job, port: number) => Readonly<Record<string, string>>;
  /** Its command; a path in it that starts with `modules/` or `programs/` is a file in bench/peers. */
  readonly command: (port: number, spare: number) => readonly [program: string, ...argv: string[]];
  /** The additional header line of a request, if the peer cannot choose by the key. */
  readonly headerLine?: (exchange: Exchange) => string;
}

/** The responses by their keys, with the names of the members that a peer uses. */
function byKey(
  { exchanges }: Pick<Job, "exchanges">,
  member: (exchange: Exchange) => object = ({ status, body }) => ({ status, body }),
): string {
  return JSON.stringify(Object.fromEntries(exchanges.map((exchange) => [exchange.key, member(exchange)])));
}

// Parsed, as the programs of json-server and msw send it.
const asValue = ({ status, body }: Exchange) => ({ status, body: JSON.parse(body) });

// https://mockoon.com/docs/latest/data-buckets/overview/ and https://mockoon.com/docs/latest/templating/mockoon-response-helpers/
const mockoonTemplate =
  "{{#with (dataRaw 'answers' (header 'x-api-key')) as |answer|}}{{status answer.status}}{{{answer.body}}}{{/with}}";

// mountebank's own pages (`mb`, then http://localhost:2525/docs/api/injection): `state` is kept between calls.
const mountebankInject = `(config) => {
  config.state.answers ??= JSON.parse(require("fs").readFileSync("answers.json", "utf8"));
  const { headers } = config.request;
  return config.state.answers[headers["x-api-key"] ?? headers["X-Api-Key"]];
}`;

/** All that are measured, by the names that `--only` takes, in the order of the tables. */
export const peers: Readonly<Record<string, Peer>> = {
  ours: {
    title: "svc-sandbox",
    setUp: "`svc-sandbox start job.yaml --log off`, with its journal, report and control plane.",
    files: ({ scenario }) => ({ "job.yaml": stringify(scenario, { aliasDuplicateObjects: false }) }),
    command: (port) => [
      "node",
      "programs/../../../bin/svc-sandbox.js",
      ...["start", "job.yaml", "--port", String(port), "--log", "off"],
    ],
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
  mountebank: {
    title: "mountebank",
    package: "mountebank",
    setUp:
      "An `inject` response, which finds the response by the key in the imposter's `state`; " +
      "a stub with a predicate for each key was slower. `--nologfile --loglevel error --allowInjection --localOnly`, " +
      "connections kept by a `Connection` header.",
    files: (job, port) => {
      const headers = { "Content-Type": "application/json", Connection: "keep-alive" };
      const stub = {
        predicates: [{ equals: { method: "GET", path } }],
        responses: [{ inject: mountebankInject }],
      };
      const imposters = [{ port, protocol: "http", host: "127.0.0.1", stubs: [stub] }];
      return {
        "answers.json": byKey(job, ({ status, body }) => ({ statusCode: status, headers, body })),
        "imposters.json": JSON.stringify({ imposters }),
      };
    },
    command: (_port, spare) => [
      "node",
      ...["modules/mountebank/bin/mb", "start", "--configfile", "imposters.json", "--noParse"],
      ...["--port", String(spare), "--host", "127.0.0.1", "--localOnly", "--allowInjection"],
      ...["--nologfile", "--loglevel", "error"],
    ],
  },
  // https://github.com/mswjs/http-middleware#readme: "Option 2: Middleware".
  msw: {
    title: "msw in Express",
    caveat: "a custom program",
    package: "msw",
    setUp: "One handler, which finds the response by the key in a `Map`, with `@mswjs/http-middleware`.",
    files: (job) => ({ "answers.json": byKey(job, asValue) }),
    command: (port) => ["node", "programs/msw.js", "answers.json", String(port)],
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
            ...{ id: "answ", name: "answers", value: byKey(job) },
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
  // https://github.com/typicode/json-server/tree/v0.17.4#module: "Custom routes example".
  "json-server": {
    title: "json-server",
    caveat: "a custom route",
    package: "json-server",
    setUp:
      "**Cannot choose by a header**: a custom route, which finds the response by the key in a `Map`; no logger, no CORS, " +
      "read-only.",
    files: (job) => ({ "answers.json": byKey(job, asValue) }),
    command: (port) => ["node", "programs/json-server.js", "answers.json", String(port)],
  },
  // https://github.com/stoplightio/prism/blob/master/docs/guides/01-mocking.md: `Prefer: code=…, example=…`.
  prism: {
    title: "Prism",
    caveat: "each request names its response",
    package: "@stoplight/prism-cli",
    setUp:
      "**Cannot choose a response by the key**: each request names its status and example in a `Prefer` header. An OpenAPI " +
      "document with an example for each key, static mode, `--verboseLevel silent --cors=false`, one process " +
      "(`--multiprocess` was slower).",
    files: ({ exchanges }) => {
      const responses = [...new Set(exchanges.map(({ status }) => status))].map((status) => {
        const ofStatus = exchanges.filter((one) => one.status === status);
        const examples = ofStatus.map(({ ref, body }) => [ref, { value: JSON.parse(body) }]);
        const content = { schema: { type: "object" }, examples: Object.fromEntries(examples) };
        return [status, { description: `A ${status}`, content: { "application/json": content } }];
      });
      const document = {
        openapi: "3.1.0",
        info: { title: "Key states", version: "1" },
        paths: { [path]: { get: { responses: Object.fromEntries(responses) } } },
      };
      return { "openapi.json": JSON.stringify(document) };
    },
    command: (port) => [
      "node",
      ...["modules/@stoplight/prism-cli/dist/index.js", "mock", "openapi.json"],
      ...["--host", "127.0.0.1", "--port", String(port), "--verboseLevel", "silent"],
      ...["--cors=false", "--multiprocess=false"],
    ],
    headerLine: ({ status, ref }) => `Prefer: code=${status}, example=${ref}`,
  },
};
