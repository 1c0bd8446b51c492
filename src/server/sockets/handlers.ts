import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { errorBody } from "../../api/messages.js";
import { currentSandboxes, sandboxOn } from "../../library/create-sandbox.js";
import type { Sandbox } from "../../library/sandbox.js";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { pathOf, queryOf, reject, resetConnection, sendError } from "./messages.js";

/** A request handler of msw 2 or 3; only msw uses its members. */
export type UserHandler = object;

/** Handlers, or a function that makes them for the server's sandbox. */
export type UserHandlers =
  | readonly UserHandler[]
  | ((context: { readonly sandbox: Sandbox }) => readonly UserHandler[] | Promise<readonly UserHandler[]>);

type GetResponse = (
  handlers: readonly UserHandler[],
  request: Request,
  context: { readonly baseUrl: string },
) => Promise<Response | undefined>;

/** Lets the user's handlers respond; calls `fallback` if none does. */
export type CustomHandlers = (
  sandbox: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
  fallback: () => void,
) => Promise<void>;

export interface UserHandlerOptions {
  /** The user's msw handlers, for paths that the API does not have. Default: none. */
  readonly handlers?: UserHandlers;
  /** The file whose msw the handlers use. Default: a file in the working directory. */
  readonly handlersFile?: string;
  /** The size limit for request bodies to the handlers, in megabytes; longer ones get 413. Default: 10. */
  readonly maxBody?: number;
  /** Called with a defect of the sandbox; the client got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
  /** Called with an error of a user's handler; the client got a 500. Default: `onDefect`. */
  readonly onHandlerError?: (error: unknown) => void;
}

/** No handler ends the process: an error gets 500, and `HttpResponse.error()` resets the connection, like a network error. */
export async function createCustomHandlers(
  given: UserHandlers,
  { handlersFile, maxBody = 10, onDefect = () => {}, onHandlerError = onDefect }: UserHandlerOptions,
  own: SandboxState,
  baseUrl: () => string,
): Promise<CustomHandlers> {
  const handlers = await readHandlers(given, sandboxOn(own));
  const getResponse = loadMsw(handlersFile ?? join(process.cwd(), "handlers.js"));
  const current = currentSandboxes(() => new AsyncLocalStorage());

  const ask = async (request: Request) => {
    try {
      return await getResponse(handlers, request, { baseUrl: baseUrl() });
    } catch (error) {
      // A handler may throw its response, as msw allows.
      if (error instanceof Response) return error;
      throw error;
    }
  };
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const asked = toWebRequest(request, response, { baseUrl: baseUrl(), maxBody });
    if (asked === undefined) return false;
    let responded = await ask(asked);
    if (responded === undefined && asked.method === "HEAD") {
      // HEAD is GET without the body, but `http.get` handles only GET.
      responded = await ask(new Request(asked.url, { headers: asked.headers, signal: asked.signal }));
    }
    if (responded === undefined || responded.headers.get("x-msw-intention") === "passthrough") {
      return response.writableEnded;
    }
    if (isOver(response)) await responded.body?.cancel();
    else if (responded.type === "error") resetConnection(response);
    else await sendWebResponse(responded, response, request.method !== "HEAD");
    return true;
  };
  return async (
    sandbox: SandboxState,
    request: IncomingMessage,
    response: ServerResponse,
    fallback: () => void,
  ): Promise<void> => {
    try {
      const taken = await current.run(sandboxOn(sandbox), () => take(request, response));
      if (!taken) fallback();
    } catch (error) {
      // The handler is not at fault if its client has gone or has sent too much.
      if (isOver(response)) return;
      try {
        onHandlerError(error);
      } finally {
        reject(response, 500);
      }
    }
  };
}

function isOver({ destroyed, writableEnded, req }: ServerResponse): boolean {
  return destroyed || writableEnded || req.socket.destroyed;
}

// Checked at the start: msw would fail on every request.
async function readHandlers(given: UserHandlers, sandbox: Sandbox): Promise<readonly UserHandler[]> {
  let handlers: unknown = given;
  try {
    if (typeof given === "function") handlers = await given({ sandbox });
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>;
    const rejection = new SandboxError("usage", `Failed to make the handlers: ${message}`);
    throw Object.assign(rejection, { cause: error });
  }
  if (!Array.isArray(handlers)) throw unusable("they are not a list of msw request handlers.");
  const wrong = handlers.findIndex((one) => typeof one?.run !== "function" || one.kind === "websocket");
  if (wrong === -1) return handlers;
  throw unusable(
    `number ${wrong + 1} is not an msw request handler. Make it with msw's \`http\`, spread lists ([...handlers]), and leave WebSocket handlers out.`,
  );
}

function loadMsw(from: string): GetResponse {
  // The handlers use the user's own msw.
  const require = createRequire(from);
  let file: string;
  try {
    file = require.resolve("msw");
  } catch {
    throw mswMissing(from);
  }
  // Not `import()`, which Jest's default setup does not allow; Node can require msw 3 as well, an ES module.
  const { getResponse } = require(file);
  if (getResponse !== undefined) return getResponse;
  throw unusable("they need msw 2.10 or later. Run `npm install --save-dev msw`.");
}

function mswMissing(file: string): SandboxError {
  return unusable(`msw is not installed where ${file} looks for it. Run \`npm install --save-dev msw\`.`);
}

function unusable(why: string): SandboxError {
  return new SandboxError("usage", `Failed to use the handlers: ${why}`);
}

// Fetch forbids these methods.
const notOnTheWeb = new Set(["CONNECT", "TRACE", "TRACK"]);

/** Aborts if the client goes away before the response. Its host is `baseUrl`'s, not the `Host` header's. */
function toWebRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { baseUrl, maxBody }: { readonly baseUrl: string; readonly maxBody: number },
): Request | undefined {
  const { method = "GET", url: target = "/" } = request;
  const url = urlOf(target, baseUrl);
  if (url === undefined || notOnTheWeb.has(method)) return undefined;
  const abort = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) abort.abort();
  });
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(url, {
    method,
    headers: webHeaders(request),
    signal: abort.signal,
    ...(hasBody && { body: requestBody(request, response, maxBody), duplex: "half" }),
  } as RequestInit);
}

// Joined as text: resolved against the base, `//other.example/` would be another host. The API gets a path that cannot be
// decoded, because msw decodes every path that it compares.
function urlOf(target: string, baseUrl: string): URL | undefined {
  const path = pathOf(target);
  try {
    decodeURIComponent(path);
    return path.startsWith("/") ? new URL(baseUrl + path + queryOf(target)) : undefined;
  } catch {
    return undefined;
  }
}

function webHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    try {
      headers.append(rawHeaders[i] as string, rawHeaders[i + 1] as string);
    } catch {
      // Leaves out a header that HTTP allows and the web's Headers rejects.
    }
  }
  return headers;
}

/** Ends when the response is sent, and not with an error: a handler may still be reading, and nothing would catch it. */
function requestBody(request: IncomingMessage, response: ServerResponse, maxBody: number): ReadableStream {
  // In between, because a canceled web stream would destroy the request and its connection.
  const body = request.pipe(new PassThrough());
  let left = maxBody * 2 ** 20;
  request.on("data", ({ length }: Buffer) => {
    left -= length;
    if (left >= 0 || response.writableEnded) return;
    const why = `The body is longer than ${maxBody} MB, the limit for handlers: maxBody of startServer sets another limit.`;
    // The connection stays open: otherwise a client that is still sending would not read it.
    sendError(response, 413, errorBody("bad_request", why));
  });
  request.once("close", () => {
    if (!request.complete) body.destroy(new Error("The client has gone."));
  });
  response.once("finish", () => {
    request.unpipe(body).resume();
    body.end();
  });
  return Readable.toWeb(body) as ReadableStream;
}

/** Throws the error of a body that breaks off; the caller must then close the connection, so that the client notices. */
async function sendWebResponse(response: Response, to: ServerResponse, withBody: boolean): Promise<void> {
  // Throws before the head is sent if the handler has read the body.
  const reader = response.body?.getReader();
  if (response.status < 200) throw new RangeError(`${response.status} is not the status of a response.`);
  to.writeHead(response.status, response.statusText || undefined, flatHeaders(response));
  if (reader !== undefined && withBody) await sendBody(reader, to);
  else reader?.cancel().catch(ignore);
  to.end();
}

// Canceling a body stops its source; errors of that do not matter.
const ignore = () => {};

// Not a stream pipeline, which does not distinguish a broken body from a client that goes away.
async function sendBody(reader: ReadableStreamDefaultReader<Uint8Array>, to: ServerResponse): Promise<void> {
  const gone = new AbortController();
  to.once("close", () => {
    gone.abort();
    reader.cancel().catch(ignore);
  });
  for (;;) {
    const { done, value } = await reader.read();
    if (done || to.destroyed) return;
    if (!to.write(value)) await once(to, "drain", gone).catch(ignore);
  }
}

function flatHeaders({ headers }: Response): string[] {
  const flat: string[] = [];
  headers.forEach((value, name) => {
    // msw marks its responses with its own headers.
    if (name !== "set-cookie" && !name.startsWith("x-msw-")) flat.push(name, value);
  });
  for (const cookie of headers.getSetCookie()) flat.push("set-cookie", cookie);
  return flat;
}

export async function loadHandlers(
  module: string,
  cwd: string,
): Promise<{ readonly handlers: UserHandlers; readonly file: string }> {
  const file = resolve(cwd, module);
  const unusable = (why: string) =>
    new SandboxError("usage", `Failed to load the handlers from ${JSON.stringify(module)}: ${why}`);
  if (!existsSync(file)) throw unusable("there is no such file.");
  let loaded: Record<string, unknown>;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    if (/^Cannot find (?:package|module) 'msw[/']/.test(String((error as Error)?.message)))
      throw mswMissing(file);
    throw unusable(describeFailure(error, file));
  }
  // A CommonJS module arrives as the default export, its own default one level below.
  const inner = loaded.default as Record<string, unknown> | undefined;
  const handlers = [loaded.handlers, loaded.default, inner?.handlers, inner?.default].find(
    (one) => Array.isArray(one) || typeof one === "function",
  );
  if (handlers !== undefined) return { handlers: handlers as UserHandlers, file };
  throw unusable(
    "it exports no list of msw handlers and no function that returns one. Export it as default or as `handlers`.",
  );
}

function describeFailure(error: unknown, file: string): string {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const line = parseInt(stack?.split(`${pathToFileURL(file).href}:`)[1] ?? "", 10);
  const [first = ""] = message.split("\n", 1);
  if (!Number.isNaN(line)) return `${first} (line ${line})`;
  return error instanceof SyntaxError ? `${first}. Run \`node ${file}\` to see the line.` : first;
}
