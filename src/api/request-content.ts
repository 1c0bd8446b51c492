import { hasBody, hasQuery, type RequestTraits } from "../domain/request-traits.js";
import type { InputSchema } from "./endpoint.js";
import { endpointsOf, routeAt } from "./routes.js";

/** How long a body may be, in bytes. */
export const longestBody = 64 * 1024;

/** The body of a request as text, or why there is none. */
export interface ReadBody {
  /** Empty when there is no body. */
  readonly text: string;
  /** What is wrong with what was sent; `undefined` when nothing is. */
  readonly problem?: string;
}

export const noBody: ReadBody = { text: "" };
export const tooLongBody: ReadBody = { text: "", problem: `it is longer than ${longestBody} bytes` };

/** What a request says beside its method, path and key. Doors read it for endpoints that take any of it. */
export interface RequestContent {
  /** Without its question mark. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: ReadBody;
}

/** The content of a request without any. */
export const noContent: RequestContent = {
  query: "",
  contentType: undefined,
  idempotencyKey: undefined,
  body: noBody,
};

/** The body that these bytes are; no more of them than {@link longestBody}. */
export function bodyOf(bytes: Uint8Array): ReadBody {
  if (bytes.length > longestBody) return tooLongBody;
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { text: "", problem: "it is not UTF-8" };
  }
}

/** What the endpoint at this path takes; `undefined` when there is none, or when it takes nothing. */
export function inputAt(preview: boolean, method: string, path: string): InputSchema | undefined {
  // Whoever calls the only endpoint there is without the preview is not to wait for a second look at the routes.
  if (!preview && !someReleasedTakes) return undefined;
  return routeAt(path, preview)?.methods.get(method)?.input;
}

/** The traits of what an endpoint takes: of these a client need not be told that they change nothing. */
export function traitsTaken({ query, body }: InputSchema): RequestTraits {
  return (query === undefined ? 0 : hasQuery) | (body === undefined ? 0 : hasBody);
}

const someReleasedTakes = endpointsOf(false).some(({ input }) => input !== undefined);
