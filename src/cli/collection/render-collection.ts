import type { Collection, CollectionRequest } from "./collection.js";

/** Renders a collection in each format, as texts by file path; `""` for a format with one file. */
export const renderCollection = { http: httpFile, postman: postmanCollection, bruno: brunoFolder };

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
function httpFile({ name, description, groups, variables }: Collection) {
  const head = [`# ${name}`, `# ${description}`, "# The values are in .env next to this file."];
  const values = variables.map((variable) => `@${variable} = {{$dotenv ${variable}}}`);
  const requests = groups.flatMap((group) =>
    group.requests.map((request) => `### ${group.name}: ${request.name}\n${httpRequest(request)}\n`),
  );
  return { "": `${[...head, ...values, "", ...requests].join("\n")}` };
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

function postmanCollection({ name, description, groups, variables }: Collection) {
  const schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
  const item = groups.map(({ name, requests }) => ({
    name,
    ...(requests.some(({ status }) => status === undefined) && onRequest),
    item: requests.map(postmanItem),
  }));
  const variable = [...variables, sendUnanswered].map((key) => ({ key, value: "" }));
  return { "": json({ info: { name, description, schema }, item, variable }) };
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

function brunoFolder({ name, description, groups }: Collection): Record<string, string> {
  const files: Record<string, string> = {
    "bruno.json": json({ version: "1", name, type: "collection" }),
    "collection.bru": brunoBlock("docs", [description]),
  };
  for (const [index, group] of groups.entries()) {
    const folder = group.name.replace(",", "").replaceAll(" ", "-");
    files[`${folder}/folder.bru`] = brunoBlock("meta", [`name: ${group.name}`, `seq: ${index + 1}`]);
    for (const [seq, request] of group.requests.entries()) {
      files[`${folder}/${request.name.replaceAll(" ", "-")}.bru`] = brunoRequest(request, seq + 1);
    }
  }
  return files;
}

function brunoRequest(request: CollectionRequest, seq: number): string {
  const { name, description, method, url, headers, body, status, code } = request;
  const blocks = [
    brunoBlock("meta", [`name: ${name}`, "type: http", `seq: ${seq}`]),
    brunoBlock(method.toLowerCase(), [`url: ${url}`, `body: ${body === undefined ? "none" : "json"}`]),
    brunoBlock(
      "headers",
      Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
    ),
    brunoBlock("body:json", body === undefined ? [] : [body]),
    brunoBlock("assert", [
      ...(status === undefined ? [] : [`res.status: eq ${status}`]),
      ...(code === null ? [] : [`res.body.error.code: eq ${code}`]),
    ]),
    // Otherwise it waits forever.
    brunoBlock("settings", status === undefined ? ["timeout: 5000"] : []),
    brunoBlock("docs", [description]),
  ];
  // Bruno reads a .env in the collection's folder, and its command's environment.
  return blocks
    .filter((block) => block !== "")
    .join("\n")
    .replace(/\{\{(SVC_\w+)\}\}/g, "{{process.env.$1}}");
}

function brunoBlock(name: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${name} {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
