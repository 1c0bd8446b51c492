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

/** A sandbox that serves a document, and a function that sends a request to it. */
export function serving(document: object, more: Partial<Scenario> = {}) {
  const sandbox = createSandbox({
    scenario: { ...scenario, ...more } as Scenario,
    openapi: readOpenApi(document),
  });
  const send = async (target: string, headers: Record<string, string> = {}, body?: string) => {
    const [method = "", path = ""] = target.split(" ");
    const response = await sandbox.fetch(`http://any.example${path}`, {
      method,
      headers: { "x-api-key": sandbox.secret("main"), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const type = response.headers.get("content-type");
    return { status: response.status, type, text, note: sandbox.requests.list().at(-1)?.note };
  };
  return { sandbox, send };
}
