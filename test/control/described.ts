import { expect } from "vitest";
import { controlOpenApiDocument, routes } from "../../src/server/control/routes/routes.js";
import { expectPartsOf } from "../support/expect-described.js";

/** An operation of the description, as far as tests look at it. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

/** The control plane's description of itself. */
export const description = controlOpenApiDocument(routes) as unknown as {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};

/** A path of the description under `/__sandbox`, its parts filled in for the sandbox of `key-states`. */
export function realPath(described: string): string {
  return described
    .replace("/__sandbox", "")
    .replace("organizations/{ref}", "organizations/harvest-bank")
    .replace("{ref}", "active")
    .replace("{id}", "none");
}

const expectPart = expectPartsOf(description);

/** An exchange with the control plane, as it went over the wire. */
export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly sent: { readonly type: string | undefined; readonly json: unknown };
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** The path of the description that a path of a request is one of; `undefined` when there is none. */
function describedPath(path: string): string | undefined {
  const asked = (path.split("?")[0] as string).replace(/(?<=.)\/$/, "");
  return Object.keys(description.paths).find((template) => {
    const steps = template.replace(/\/$/, "").split("/");
    const found = asked.split("/");
    return (
      steps.length === found.length &&
      steps.every((step, index) => (step.startsWith("{") ? found[index] !== "" : step === found[index]))
    );
  });
}

/** Expects that a response is what the description says of it, and a body that was taken one that it says is taken. */
export function expectDescribed(exchange: Exchange): void {
  const { method, path, status, text, sent } = exchange;
  expectSafeHeaders(exchange);
  const template = describedPath(path) ?? "";
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const operation = description.paths[template]?.[verb];
  if (operation === undefined) {
    expect([400, 401, 403, 404, 405]).toContain(status);
    if (method !== "HEAD") expectPart(JSON.parse(text), "components", "schemas", "ControlError");
    return;
  }
  const own = ["paths", template, verb];
  const named = String(status) in operation.responses ? String(status) : "default";
  if (named === "default") expect(status).toBeGreaterThanOrEqual(400);
  const content = operation.responses[named]?.content;
  if (content === undefined) {
    expect([status, text]).toEqual([204, ""]);
  } else {
    const type = String(exchange.headers["content-type"]).split(";")[0] as string;
    expect(Object.keys(content)).toContain(type);
    const body = type === "application/json" && text !== "" ? JSON.parse(text) : text;
    if (method !== "HEAD") expectPart(body, ...own, "responses", named, "content", type, "schema");
  }
  if (status >= 300) return;
  const type = sent.type?.split(";")[0];
  const taken = operation.requestBody;
  if (type === undefined) expect(taken?.required ?? false).toBe(false);
  else if (taken === undefined) expect(sent.json).toEqual({});
  else if (type === "application/json")
    expectPart(sent.json, ...own, "requestBody", "content", type, "schema");
  else expect(Object.keys(taken.content)).toContain("application/yaml");
}

/** No response may be read by other origins, be kept by a cache, or be shown in a frame. */
function expectSafeHeaders({ headers, status }: Exchange): void {
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect([headers.etag, headers["x-powered-by"]]).toEqual([undefined, undefined]);
  const safe = {
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
  };
  expect(headers).toMatchObject(safe);
  if (status === 405) expect(headers.allow).toMatch(/^[A-Z]+(?:, [A-Z]+)*$/);
  if (status === 401) expect(headers["www-authenticate"]).toMatch(/^Bearer /);
}
