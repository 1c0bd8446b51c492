import { disconnect, ownChanges } from "./connection.js";
import { needsToken, storedToken } from "./token.js";

/** The control plane: the page is there. */
const controlUrl = new URL("./", document.baseURI);

/** The URL of the sandbox for clients. */
export const baseUrl = new URL("..", controlUrl).href.replace(/\/$/, "");

/** A rejection by the control plane, or a missing response (`unreachable`). */
export class ControlError extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** The problems of a body, by field name. */
    readonly fields: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** Sent unchanged, as YAML. */
  readonly yaml?: Blob;
  readonly signal?: AbortSignal;
}

/** Calls the control plane. Returns a successful response, or throws a `ControlError`. */
export async function fetchControl(path: string, call: Call = {}): Promise<Response> {
  const { method = "GET", body = {}, yaml, signal = null } = call;
  const token = storedToken();
  const isChange = method !== "GET";
  const contentType = yaml === undefined ? "application/json" : "application/yaml";
  const headers = {
    ...(token !== null && { Authorization: `Bearer ${token}` }),
    ...(isChange && { "Content-Type": contentType }),
  };
  const content = isChange ? (yaml ?? JSON.stringify(body)) : null;

  const url = new URL(`.${path}`, controlUrl);
  let response: Response;
  try {
    response = await fetch(url, { method, headers, cache: "no-store", body: content, signal });
    // A response that breaks off is like a missing response, so its whole body is read first.
    await response.clone().blob();
  } catch {
    const why = "The sandbox does not respond. Is it still running?";
    disconnect(why);
    throw new ControlError("unreachable", why);
  }
  if (isChange) ownChanges.value += 1;
  if (response.ok) return response;

  const problem = await readProblem(response);
  // A call that was sent before the token was entered does not test it.
  if (problem.code === "control_token_required" && token === storedToken()) needsToken.value = true;
  throw problem;
}

/** Calls the control plane; returns the `data` of its response, or the text of one that is not JSON. */
export async function call<Data>(path: string, options?: Call): Promise<Data> {
  const response = await fetchControl(path, options);
  const isJson = response.headers.get("Content-Type")?.includes("json");
  if (!isJson) return (await response.text()) as Data;
  const json = await response.json();
  // The health has no `data`.
  return json.data ?? json;
}

/** Reads a rejection; a response of another form is a problem of its own. */
async function readProblem(response: Response): Promise<ControlError> {
  const text = await response.text();
  try {
    const { code, message, details } = JSON.parse(text).error;
    // The key exists but was not saved, so this message is the only place with its secret.
    const secret = details?.data?.secret;
    const words = secret === undefined ? message : `${message} The secret is ${secret}.`;
    return new ControlError(code, words, describeFields(details?.fields));
  } catch {
    const words = `The sandbox returned ${response.status}: ${text.slice(0, 200)}`;
    return new ControlError("unreadable", words);
  }
}

/** The problems of a body as sentences. A problem starts with its field, whose label in the page has other words. */
function describeFields(fields: Readonly<Record<string, string>> = {}) {
  const sentences = Object.entries(fields).map(([path, text]) => {
    // `per_day must be a number` is below the field `Requests per day`, whose path is `limits.per_day`.
    const name = path.slice(path.lastIndexOf(".") + 1);
    const problem = text.startsWith(`${name} `) ? text.slice(name.length + 1) : text;
    return [path, problem.charAt(0).toUpperCase() + problem.slice(1)];
  });
  return Object.fromEntries(sentences);
}
