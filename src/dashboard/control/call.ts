import { signal } from "@preact/signals";

const controlUrl = new URL("./", document.baseURI);

export const baseUrl = new URL("..", controlUrl).href.replace(/\/$/, "");

const tokenName = `svc-sandbox token ${controlUrl.pathname}`;

const storedToken = () => sessionStorage.getItem(tokenName);

/** Discards the token that this tab keeps. */
export function forget(): void {
  sessionStorage.removeItem(tokenName);
  location.reload();
}

export const hasToken = () => storedToken() !== null;

/** Whether the control plane requires a token that the page does not have. */
export const needsToken = signal(false);

/** Whether the page's token is wrong: mistyped, or from an earlier sandbox. */
export const isTokenRejected = () => needsToken.value && storedToken() !== null;

/** A rejection by the control plane, or a missing response (`unreachable`). */
export class ControlError extends Error {
  override readonly name = "ControlError";
  constructor(
    readonly code: string,
    message: string,
    /** The problems of a body, by field name. */
    readonly fields: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** Whether the sandbox sent this error. Otherwise there was no readable response. */
  get isOfSandbox(): boolean {
    return this.code !== "unreachable" && this.code !== "unexpected_response";
  }
}

/** The number of changes by this page, after each of which it looks for news immediately. */
export const ownChanges = signal(0);

interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** Sent unchanged, as YAML. */
  readonly yaml?: string;
  /** The actor in the service's dashboard (R33). Default: an administrator. */
  readonly actor?: "administrator" | "member";
  readonly signal?: AbortSignal;
}

/** Stores the token for this tab. Calls that require it are retried. */
export function useToken(token: string): void {
  sessionStorage.setItem(tokenName, token);
  needsToken.value = false;
}

/** Moves the token from the address to this tab: the printed link has `#token=…`, or `#token=…&/story` for a view. */
export function takeToken(): void {
  const [, token, view = ""] = /^#token=([^&]+)&?(.*)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(null, "", `${location.pathname}${location.search}#${view}`);
  useToken(decodeURIComponent(token));
  dispatchEvent(new Event("hashchange"));
}

/** Calls the control plane. Returns a successful response, or throws a `ControlError`. */
export async function fetchControl(path: string, call: Call = {}): Promise<Response> {
  const { method = "GET", body, yaml, actor, signal: until } = call;
  const headers = new Headers();
  const token = storedToken();
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  if (actor !== undefined) headers.set("X-Sandbox-Actor", actor);
  if (method !== "GET") {
    headers.set("Content-Type", yaml === undefined ? "application/json" : "application/yaml");
  }
  let response: Response;
  try {
    response = await fetch(new URL(`.${path}`, controlUrl), {
      method,
      headers,
      cache: "no-store",
      body: method === "GET" ? null : (yaml ?? JSON.stringify(body ?? {})),
      signal: until ?? null,
    });
  } catch {
    throw new ControlError("unreachable", "The sandbox does not respond. Is it still running?");
  }
  if (method !== "GET" && path !== "/scenario/validate") ownChanges.value += 1;
  if (response.ok) return response;
  const problem = await problemOf(response);
  // A call that was sent before the token was entered does not test it.
  if (problem.code === "control_token_required" && token === storedToken()) {
    needsToken.value = true;
  }
  throw problem;
}

/** Calls the control plane; returns the `data` of its response. */
export async function call<Data>(path: string, options: Call = {}): Promise<Data> {
  const response = await fetchControl(path, options);
  if (response.status === 204) return undefined as Data;
  return ((await response.json()) as { data: Data }).data;
}

/** Calls the control plane for a response without `data`. */
export async function callBare<Data>(path: string): Promise<Data> {
  return (await fetchControl(path)).json() as Promise<Data>;
}

async function problemOf(response: Response): Promise<ControlError> {
  const text = await response.text();
  try {
    const { code, message, details } = JSON.parse(text).error;
    // The key exists but was not saved, so this message is the only place with its secret.
    const secret = details?.data?.secret;
    const shown = secret === undefined ? message : `${message} The secret is ${secret}.`;
    return new ControlError(code, shown, fieldWords(details));
  } catch {
    return new ControlError(
      "unexpected_response",
      `The sandbox returned ${response.status}: ${text.slice(0, 200)}`,
    );
  }
}

/** The problems of a body, each as a sentence beside its field, which has another name there. */
function fieldWords({ fields = {} }: Record<string, Record<string, string>> = {}) {
  const words = Object.entries(fields).map(([field, text]) => {
    const problem = text.replace(/^\S+ (?=must |is )/, "");
    // A new fault is sent in the list of all.
    return [field.replace(/^faults\.\d+\./, ""), problem.charAt(0).toUpperCase() + problem.slice(1)];
  });
  return Object.fromEntries(words);
}
