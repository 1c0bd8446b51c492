import type { Shown } from "../../control/responses.js";

type Sent = Pick<Shown<"Request">, "method" | "path" | "key" | "fingerprint" | "path_id">;

/**
 * Code that repeats a request, without query, body and other headers, which the journal does not store. The key and the
 * base URL come from environment variables.
 */
export function clientCode(request: Sent) {
  return { curl: asCurl(request), fetch: asFetch(request) };
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

function asFetch(request: Sent): string {
  const variable = variableOf(request);
  const options = [
    ...(request.method === "GET" ? [] : [`  method: ${JSON.stringify(request.method)},\n`]),
    ...(variable === undefined
      ? []
      : [`  headers: { "x-api-key": ${nodeEnvironment}.${variable} ?? "" },\n`]),
    ...(request.path_id === "fault.hang" ? ["  signal: AbortSignal.timeout(5000),\n"] : []),
  ];
  const url = `${nodeEnvironment}.SVC_BASE_URL + ${JSON.stringify(urlPath(request))}`;
  return `const response = await fetch(${url}${options.length === 0 ? "" : `, {\n${options.join("")}}`});
console.log(response.status, await response.text());
`;
}
