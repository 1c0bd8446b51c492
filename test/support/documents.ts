import { createSandbox, type Scenario } from "../../src/index.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";

/** The content of a response or a request body. */
export const content = (schema: unknown, type = "application/json", more: object = {}) => ({
  content: { [type]: { schema, ...more } },
});

/** The responses of an operation that succeeds with this content. */
export const success = (...args: Parameters<typeof content>) => ({
  200: { description: "", ...content(...args) },
});

export const documentOf = (paths: object, more: object = {}) => ({
  ...{ openapi: "3.1.0", info: { title: "", version: "" }, paths },
  ...more,
});

const scenario = {
  version: 1,
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
} as const satisfies Scenario;

/** What a request has besides its method and its target. */
export interface Ask {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A sandbox that serves a document, by default that of its scenario, and functions that send requests to it. */
export function serving(document?: object, more: Partial<Scenario> = {}, options: { seed?: number } = {}) {
  const openapi = document === undefined ? readOpenApi() : readOpenApi(document);
  const sandbox = createSandbox({ scenario: { ...scenario, ...more } as Scenario, openapi, ...options });
  const send = async (target: string, headers: Ask["headers"] = {}, body?: string, key = "main") => {
    const [method = "", path = ""] = target.split(" ");
    const response = await sandbox.fetch(`http://any.example${path}`, {
      method,
      headers: { "x-api-key": sandbox.secret(key as never), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const type = response.headers.get("content-type");
    return { status: response.status, type, text, note: sandbox.requests.list().at(-1)?.note };
  };
  /** Sends and reads JSON. */
  const ask = async (target: string, { key, body, headers }: Ask = {}) => {
    const sent = { "content-type": "application/json", ...headers };
    const { status, text } = await send(target, sent, body === undefined ? body : JSON.stringify(body), key);
    return { status, body: text === "" ? undefined : JSON.parse(text) };
  };
  return { sandbox, send, ask };
}
