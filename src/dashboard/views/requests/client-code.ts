import type { Request } from "../../control/answers.js";

/** Code that repeats a request. The key and the base URL come from environment variables. */
export interface ClientCode {
  readonly name: "curl" | "fetch" | "vitest" | "pytest";
  readonly code: string;
}

type Sent = Pick<
  Request,
  "method" | "path" | "key" | "fingerprint" | "status" | "code" | "path_id" | "fault"
>;

/** The request in each form, without query, body and other headers, which the journal does not store. */
export function clientCode(request: Sent): readonly ClientCode[] {
  return [
    { name: "curl", code: asCurl(request) },
    { name: "fetch", code: asFetch(request) },
    { name: "vitest", code: asVitest(request) },
    { name: "pytest", code: asPytest(request) },
  ];
}

/** The key's variable in `--write-env`; `undefined` for a request without a key. */
function variableOf({ key, fingerprint, path_id: pathId }: Sent): string | undefined {
  if (key !== null) return `SVC_KEY_${key.toUpperCase().replaceAll("-", "_")}`;
  if (pathId === "401.malformed") return "SVC_KEY_MALFORMED";
  return fingerprint === null ? undefined : "SVC_KEY_UNKNOWN";
}

/** The path in a URL. Invalid characters, such as the sign of a cut key, are encoded. */
function urlPath({ path }: Sent): string {
  return path
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[^\x21-\x7e]|["#<>?\\^`{|}]/gu, encodeURIComponent);
}

/** A quoted text for JavaScript and Python. */
const quoted = (text: string) => JSON.stringify(text);

const isPlain = (text: string) => /^[\w/.~:@%+,=-]*$/.test(text);

function asCurl(request: Sent): string {
  const { method, path_id: pathId } = request;
  const path = urlPath(request);
  const variable = variableOf(request);
  const shell = (text: string) => (isPlain(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return [
    "curl -i",
    ...(method === "GET" ? [] : [method === "HEAD" ? "--head" : `-X ${shell(method)}`]),
    // Without a timeout, curl waits forever.
    ...(pathId === "fault.hang" ? ["-m 5"] : []),
    ...(isPlain(path) && !path.includes("/.") ? [] : ["--globoff --path-as-is"]),
    ...(variable === undefined ? [] : [`-H "x-api-key: $${variable}"`]),
    isPlain(path) ? `"$SVC_BASE_URL${path}"` : `"$SVC_BASE_URL"${shell(path)}`,
  ].join(" ");
}

/** The environment in the code, in pieces because this file runs in browsers. */
const nodeEnvironment = ["process", "env"].join(".");

/** The call of `fetch`, with one line for each option. */
function fetchCall(request: Sent, indent: string): string {
  const variable = variableOf(request);
  const options = [
    ...(request.method === "GET" ? [] : [`method: ${quoted(request.method)},`]),
    ...(variable === undefined ? [] : [`headers: { "x-api-key": ${nodeEnvironment}.${variable} ?? "" },`]),
    ...(request.path_id === "fault.hang" ? ["signal: AbortSignal.timeout(2000),"] : []),
  ];
  const url = `${nodeEnvironment}.SVC_BASE_URL + ${quoted(urlPath(request))}`;
  if (options.length === 0) return `fetch(${url})`;
  return `fetch(${url}, {\n${options.map((line) => `${indent}  ${line}\n`).join("")}${indent}})`;
}

function asFetch(request: Sent): string {
  return `const response = await ${fetchCall(request, "")};
console.log(response.status, await response.text());
`;
}

/** The title of a test, with the expected path id. */
const titleOf = ({ method, path, path_id: pathId }: Sent) =>
  `${method} ${path.slice(0, 100)} ends on ${pathId}`;

function asVitest(request: Sent): string {
  const { status, code, method, path_id: pathId } = request;
  const call = fetchCall(request, "  ");
  const checks = [
    `expect(response.status).toBe(${status});`,
    ...(pathId === "fault.truncate" ? ["await expect(response.text()).rejects.toThrow();"] : []),
    ...(pathId === "fault.malformed" ? ["await expect(response.json()).rejects.toThrow();"] : []),
    ...(code === null || method === "HEAD"
      ? []
      : [`expect((await response.json()).error.code).toBe(${quoted(code)});`]),
  ];
  const body =
    status === 0
      ? [`await expect(${call}).rejects.toThrow();`]
      : [`const response = await ${call};`, ...checks];
  return `import { expect, test } from ${quoted("vitest")};

test(${quoted(titleOf(request))}, async () => {
${body.map((line) => `  ${line}\n`).join("")}});
`;
}

function asPytest(request: Sent): string {
  const { status, code, method, path_id: pathId } = request;
  const variable = variableOf(request);
  const headers = variable === undefined ? "{}" : `{"x-api-key": os.environ["${variable}"]}`;
  const fails = status === 0;
  const isCut = pathId === "fault.truncate";
  const isBroken = pathId === "fault.malformed";
  const hasCode = code !== null && method !== "HEAD" && !fails;
  const imports = [
    ...(isCut ? ["import http.client"] : []),
    ...(hasCode || isBroken ? ["import json"] : []),
    "import os",
    ...(fails ? [] : ["import urllib.error"]),
    "import urllib.request",
    ...(fails || isCut || isBroken ? ["", "import pytest"] : []),
  ];
  const raising = (error: string, line: string) => [`with pytest.raises(${error}):`, `    ${line}`];
  const lines = [
    "request = urllib.request.Request(",
    `    os.environ["SVC_BASE_URL"] + ${quoted(urlPath(request))},`,
    `    method=${quoted(method)},`,
    `    headers=${headers},`,
    ")",
    ...(fails
      ? raising("OSError", "urllib.request.urlopen(request, timeout=2)")
      : [
          "try:",
          "    response = urllib.request.urlopen(request, timeout=10)",
          "except urllib.error.HTTPError as error:",
          "    response = error",
          `assert response.status == ${status}`,
          ...(isCut ? raising("(OSError, http.client.HTTPException)", "response.read()") : []),
          ...(isBroken ? raising("ValueError", "json.load(response)") : []),
          ...(hasCode ? [`assert json.load(response)["error"]["code"] == ${quoted(code)}`] : []),
        ]),
  ];
  const name = `${method}_${pathId}`.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  return `${imports.join("\n")}


def test_${name}():
${lines.map((line) => `    ${line}\n`).join("")}`;
}
