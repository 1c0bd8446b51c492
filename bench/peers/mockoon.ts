import { join } from "node:path";
import { path } from "./job.js";
import type { Peer } from "./peer.js";

// https://mockoon.com/docs/latest/data-buckets/overview/ and https://mockoon.com/docs/latest/templating/mockoon-response-helpers/
const template =
  "{{#with (dataRaw 'answers' (header 'x-api-key')) as |answer|}}{{status answer.status}}{{{answer.body}}}{{/with}}";

export const mockoon: Peer = {
  name: "mockoon",
  title: "Mockoon CLI",
  packages: ["@mockoon/cli"],
  setUp:
    "A data bucket with the answers, looked up by the key in the body's template, which sets the status too; a rule for each key was slower. " +
    "`--disable-log-to-file --disable-admin-api --max-transaction-logs 0`.",
  files: ({ exchanges }, port) => {
    const answers = Object.fromEntries(exchanges.map(({ key, status, body }) => [key, { status, body }]));
    const environment = {
      uuid: "0f8fad5b-d9cb-469f-a165-70867728950e",
      lastMigration: 33,
      name: "Key states",
      port,
      hostname: "127.0.0.1",
      cors: false,
      routes: [
        {
          uuid: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
          type: "http",
          method: "get",
          endpoint: path.slice(1),
          responses: [
            {
              uuid: "16fd2706-8baf-433b-82eb-8c7fada847da",
              statusCode: 200,
              headers: [{ key: "Content-Type", value: "application/json" }],
              bodyType: "INLINE",
              body: template,
              default: true,
            },
          ],
        },
      ],
      rootChildren: [{ type: "route", uuid: "7c9e6679-7425-40de-944b-e07fc1f90ae7" }],
      data: [
        {
          uuid: "886313e1-3b8a-5372-9b90-0c9aee199e5d",
          id: "answ",
          name: "answers",
          value: JSON.stringify(answers),
        },
      ],
    };
    return { "environment.json": JSON.stringify(environment) };
  },
  start: ({ node, modules, port }) => ({
    program: node,
    argv: [
      join(modules, "@mockoon/cli/bin/run.js"),
      ...["start", "--data", "environment.json", "--port", String(port), "--repair"],
      ...["--disable-log-to-file", "--disable-admin-api", "--max-transaction-logs", "0"],
    ],
  }),
};
