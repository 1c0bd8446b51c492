import type { Collection, CollectionRequest } from "./collection.js";

/** Renders a collection in each format. */
export const renderCollection = { http: httpFile, postman: postmanCollection };

export type CollectionFormat = keyof typeof renderCollection;

/** Renders the values of a collection's variables for a format. */
export function renderEnvironment(
  format: CollectionFormat,
  name: string,
  values: [string, string][],
): string {
  if (format !== "postman") {
    return `# ${name}\n${values.map(([key, value]) => `${key}=${value}\n`).join("")}`;
  }
  return json({ name, values: values.map(([key, value]) => ({ key, value, enabled: true })) });
}

// The common syntax of VS Code, JetBrains, Visual Studio and httpYac, which have no common assertions.
function httpFile({ name, description, groups, variables }: Collection): string {
  const head = [`# ${name}`, `# ${description}`, "# The values are in .env next to this file."];
  const values = variables.map((variable) => `@${variable} = {{$dotenv ${variable}}}`);
  const requests = groups.flatMap((group) =>
    group.requests.map((request) => `### ${group.name}: ${request.name}\n${httpRequest(request)}\n`),
  );
  return [...head, ...values, "", ...requests].join("\n");
}

function httpRequest(request: CollectionRequest): string {
  const { description, method, url, headers, body } = request;
  return [
    `# ${description}`,
    `# Expect: ${expectation(request)}`,
    `${method} ${url}`,
    ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
    ...(body === undefined ? [] : ["", body]),
  ].join("\n");
}

function expectation({ status, code }: CollectionRequest): string {
  return status === undefined ? "no answer" : [status, code].filter(Boolean).join(" ");
}

function postmanCollection({ name, description, groups, variables }: Collection): string {
  const schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
  const item = groups.map(({ name, requests }) => ({
    name,
    ...(requests.some(({ status }) => status === undefined) && onRequest),
    item: requests.map(postmanItem),
  }));
  const variable = [...variables, sendUnanswered].map((key) => ({ key, value: "" }));
  return json({ info: { name, description, schema }, item, variable });
}

const sendUnanswered = "SVC_SEND_UNANSWERED";

// Postman's requests have no timeout: without one, Newman waits for a hang forever.
const onRequest = {
  description: `Set the variable ${sendUnanswered} to 1 to send these requests: they get no response. In Newman also set --timeout-request.`,
  event: [
    {
      listen: "prerequest",
      script: {
        type: "text/javascript",
        exec: [`if (!pm.variables.get("${sendUnanswered}")) pm.execution.skipRequest();`],
      },
    },
  ],
};

function postmanItem(request: CollectionRequest) {
  const { name, description, method, url, headers, body, status, code } = request;
  const header = Object.entries(headers).map(([key, value]) => ({ key, value }));
  const sent = body === undefined ? {} : { body: { mode: "raw", raw: body } };
  const exec = [
    `pm.test(${JSON.stringify(expectation(request))}, () => {`,
    `  pm.response.to.have.status(${status});`,
    code !== null && `  pm.expect(pm.response.json().error.code).to.equal(${JSON.stringify(code)});`,
    "});",
  ].filter(Boolean);
  const event = [{ listen: "test", script: { type: "text/javascript", exec } }];
  return {
    name,
    request: { method, header, ...sent, url, description },
    ...(status !== undefined && { event }),
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
