import { signal } from "@preact/signals";

/** The control plane of the server, or of the instance, that this page comes from. */
const controlUrl = new URL("./", document.baseURI);

// The instances of a server ask for its token.
const tokenName = `svc-sandbox token ${controlUrl.pathname.replace(/\/i\/[^/]+(?=\/__sandbox\/$)/, "")}`;

/** Whether the control plane asks for a token that the page does not have. */
export const needsToken = signal(false);

/** Whether the token that the page has is not the one: mistyped, or of a sandbox that ran before. */
export const isTokenRefused = () => needsToken.value && sessionStorage.getItem(tokenName) !== null;

/** A refusal of the control plane, or no answer at all (`unreachable`). */
export class ControlError extends Error {
  override readonly name = "ControlError";
  constructor(
    readonly code: string,
    message: string,
    /** The problems of a body, by the names of its fields. */
    readonly fields: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** Whether the sandbox said so; otherwise nothing came that could be read. */
  get isOfSandbox(): boolean {
    return this.code !== "unreachable" && this.code !== "unexpected_answer";
  }
}

/** A call of the control plane. */
export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, as YAML. */
  readonly yaml?: string;
  /** The actor in the dashboard (R33). Default: the one chosen on the page of keys. */
  readonly actor?: "administrator" | "member";
  readonly signal?: AbortSignal;
}

/** The address of something in the control plane; `path` begins with a slash. */
export function addressOf(path: string): string {
  return new URL(`.${path}`, controlUrl).href;
}

/** The base URL of the API that this page is about. */
export const baseUrl = new URL("..", controlUrl).href.replace(/\/$/, "");

/** The id of the instance that this page is about; `undefined` for the server's own sandbox. */
export const instanceId = /\/i\/([^/]+)$/.exec(baseUrl)?.[1];

/** The page of the server; for an instance's page, of the server that it is on. */
export const serverPage = `${baseUrl.replace(/\/i\/[^/]+$/, "")}/__sandbox/`;

/** Keeps the token for this tab, and tries again what needs it. */
export function useToken(token: string): void {
  sessionStorage.setItem(tokenName, token);
  needsToken.value = false;
}

/** Takes the token out of the address, where the printed link has it: `#token=…`, or `#token=…&/story` for a view. */
export function takeToken(): void {
  const [, token, view = ""] = /^#token=([^&]+)&?(.*)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  useToken(decodeURIComponent(token));
  history.replaceState(null, "", `${location.pathname}${location.search}#${view}`);
  dispatchEvent(new Event("hashchange"));
}

/** Calls the control plane; returns the answer when its status is one of success, else throws a `ControlError`. */
export async function fetchControl(path: string, call: Call = {}): Promise<Response> {
  const { method = "GET", body, yaml, actor, signal: until } = call;
  const headers = new Headers();
  const token = sessionStorage.getItem(tokenName);
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  if (actor !== undefined) headers.set("X-Sandbox-Actor", actor);
  if (method !== "GET") {
    headers.set("Content-Type", yaml === undefined ? "application/json" : "application/yaml");
  }
  let response: Response;
  try {
    response = await fetch(addressOf(path), {
      method,
      headers,
      cache: "no-store",
      body: method === "GET" ? null : (yaml ?? JSON.stringify(body ?? {})),
      signal: until ?? null,
    });
  } catch (error) {
    if (until?.aborted) throw error;
    throw new ControlError("unreachable", "The sandbox does not respond. Was it stopped?");
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  // A call that was under way when the token was given says nothing of it.
  if (problem.code === "control_token_required" && token === sessionStorage.getItem(tokenName)) {
    needsToken.value = true;
  }
  throw problem;
}

/** Calls the control plane; returns what stands in the `data` of its answer. */
export async function call<Answer>(path: string, options: Call = {}): Promise<Answer> {
  const response = await fetchControl(path, options);
  if (response.status === 204) return undefined as Answer;
  return ((await response.json()) as { data: Answer }).data;
}

/** Calls the control plane for an answer that does not stand in `data`. */
export async function callBare<Answer>(path: string): Promise<Answer> {
  return (await fetchControl(path)).json() as Promise<Answer>;
}

async function problemOf(response: Response): Promise<ControlError> {
  const text = await response.text();
  try {
    const { code, message, details } = JSON.parse(text).error;
    // Made and not saved: it is shown nowhere else.
    const secret = details?.data?.secret;
    const shown = secret === undefined ? message : `${message} The secret is ${secret}.`;
    return new ControlError(code, shown, details?.fields);
  } catch {
    return new ControlError(
      "unexpected_answer",
      `The sandbox returned ${response.status}: ${text.slice(0, 200)}`,
    );
  }
}
