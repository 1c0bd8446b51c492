import { signal } from "@preact/signals";

/** The control plane of the server, or of the instance, that this page comes from. */
const controlUrl = new URL("./", document.baseURI);

/** The base URL of the API that this page shows. */
export const baseUrl = new URL("..", controlUrl).href.replace(/\/$/, "");

const instancePath = /\/i\/([^/]+)$/;

/** The id of the instance that this page shows; `undefined` for the server's own sandbox. */
export const instanceId = instancePath.exec(baseUrl)?.[1];

/** The page of the server that runs this sandbox. */
export const serverPage = `${baseUrl.replace(instancePath, "")}/__sandbox/`;

// Instances require the token of their server.
const tokenName = `svc-sandbox token ${new URL(serverPage).pathname}`;

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
    response = await fetch(new URL(`.${path}`, controlUrl), {
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
