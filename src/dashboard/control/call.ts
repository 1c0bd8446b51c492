import { decoded } from "./route.js";
import { Shared } from "./shared.js";

// A call of the control plane: where it is, the token that it may require, and what a call shows of the connection.

/** The control plane: the page is there. */
const controlUrl = new URL("./", document.baseURI);

/** The URL of the sandbox for clients. */
export const baseUrl = new URL("..", controlUrl).href.replace(/\/$/, "");

/** A text that is another one once anything that the page shows may have changed; `undefined` while that is unknown. */
export const revision = new Shared<string | undefined>(undefined);

/** Why the page is not up to date, as a sentence; `undefined` if it is, or if another part of the page says why. */
export const whyOffline = new Shared<string | undefined>(undefined);

/** The number of calls of this page that may have changed something. */
export const ownChanges = new Shared(0);

/** Shows that the page is not up to date. The same revision is then news as well, because a reading may have failed. */
export function disconnect(why: string | undefined): void {
  revision.value = undefined;
  whyOffline.value = why;
}

/** Of this tab. Each control plane has its own. */
const tokenName = `svc-sandbox token ${controlUrl.pathname}`;

/** The token of this tab; `null` without one. */
let token = readToken();

export const storedToken = () => token;

/** The token that this tab has stored. A browser that blocks site data stores nothing: then the token leaves with the page. */
function readToken(): string | null {
  try {
    return sessionStorage.getItem(tokenName);
  } catch {
    return null;
  }
}

/** Whether the control plane requires a token that the page does not have. */
export const needsToken = new Shared(false);

/** Stores the token for this tab. Calls that require it are retried. */
export function storeToken(entered: string): void {
  token = entered;
  try {
    sessionStorage.setItem(tokenName, entered);
  } catch {
    // It lasts as long as the page.
  }
  needsToken.value = false;
}

/** Moves the token from the address to this tab. The printed link has `#token=…`, or `#token=…&/story` for a view. */
function takeToken(): void {
  const match = /^#token=([^&]+)&?(.*)$/.exec(location.hash);
  if (match === null) return;
  const [, linked = "", view = ""] = match;
  history.replaceState(null, "", `${location.pathname}${location.search}#${view}`);
  storeToken(decoded(linked));
  dispatchEvent(new Event("hashchange"));
}

takeToken();
// The printed link may be pasted into an open page.
addEventListener("hashchange", takeToken);

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
}

/** After this many milliseconds, a server that does not respond to a reading hangs or is unreachable. */
const longestSilenceMs = 10_000;

/** Calls the control plane. Returns the body of a successful response, or throws a `ControlError`. */
export async function fetchControl(path: string, call: Call = {}): Promise<Blob> {
  const { method = "GET", body = {}, yaml } = call;
  const sentToken = token;
  // A header cannot have other characters, so no sandbox has such a token: a cut one that was copied, for example.
  if (sentToken !== null && !/^[ -~]*$/.test(sentToken)) throw requireToken(sentToken);

  const headers: Record<string, string> = {};
  const request: RequestInit = { method, headers, cache: "no-store" };
  const isChange = method !== "GET";
  if (sentToken !== null) headers.Authorization = `Bearer ${sentToken}`;
  if (isChange) {
    headers["Content-Type"] = yaml === undefined ? "application/json" : "application/yaml";
    request.body = yaml ?? JSON.stringify(body);
  } else {
    request.signal = AbortSignal.timeout(longestSilenceMs);
  }

  let response: Response;
  let content: Blob;
  try {
    response = await fetch(new URL(`.${path}`, controlUrl), request);
    // A response that breaks off is like a missing response.
    content = await response.blob();
  } catch {
    const why = "The sandbox does not respond. Is it still running?";
    disconnect(why);
    throw new ControlError("unreachable", why);
  }
  if (isChange) ownChanges.value += 1;
  if (response.ok) return content;

  const problem = readProblem(await content.text(), response.status);
  if (problem.code === "control_token_required") throw requireToken(sentToken);
  throw problem;
}

/** Asks for the token, unless another one was entered since a call was sent with this one. */
function requireToken(sent: string | null): ControlError {
  if (sent === token) needsToken.value = true;
  return new ControlError("control_token_required", "The sandbox requires its control token.");
}

/** Calls the control plane; returns the `data` of its response. The health has no `data`; a scenario is a text. */
export async function call<Data>(path: string, options?: Call): Promise<Data> {
  const content = await fetchControl(path, options);
  const text = await content.text();
  if (content.type.startsWith("application/yaml")) return text as Data; // as the route of the call has it
  try {
    const json = JSON.parse(text);
    return json.data ?? json;
  } catch {
    // A proxy may respond in place of the sandbox.
    throw readProblem(text, 200);
  }
}

interface ErrorJson {
  readonly code: string;
  readonly message: string;
  readonly details?: {
    readonly data?: { readonly secret?: string };
    readonly fields?: Readonly<Record<string, string>>;
  };
}

/** Reads a rejection; a text of another form is a problem of its own. */
function readProblem(text: string, status: number): ControlError {
  try {
    const { code, message, details }: ErrorJson = JSON.parse(text).error;
    // The key exists but was not saved, so this message is the only place with its secret.
    const secret = details?.data?.secret;
    let words = message;
    if (secret !== undefined) words += ` The secret is ${secret}.`;
    return new ControlError(code, words, describeFields(details?.fields));
  } catch {
    const words = `This is not a response of the sandbox (${status}): ${text.slice(0, 200)}`;
    return new ControlError("unreadable", words);
  }
}

/** The problems of a body as sentences. A problem starts with its field, whose label in the page has other words. */
function describeFields(fields: Readonly<Record<string, string>> = {}) {
  const sentences: Record<string, string> = {};
  for (const [path, text] of Object.entries(fields)) {
    // `per_day must be a number` is below the field `Requests per day`, whose path is `limits.per_day`.
    const name = path.slice(path.lastIndexOf(".") + 1);
    let problem = text;
    if (text.startsWith(`${name} `)) problem = text.slice(name.length + 1);
    sentences[path] = problem.charAt(0).toUpperCase() + problem.slice(1);
  }
  return sentences;
}
