import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { controlOpenApiDocument } from "../../src/node/control/openapi.js";
import { routes } from "../../src/node/control/routes.js";

/** An operation of the description, as far as tests look at it. */
export interface Operation {
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

/** A path of the description under `/__sandbox`, its parts filled in for the world of `key-states`. */
export function realPath(described: string, instance = "none"): string {
  return described
    .replace("/__sandbox", "")
    .replace("organizations/{ref}", "organizations/harvest-bank")
    .replace("{ref}", "active")
    .replace("{id}", instance);
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(description, "control");
const compiled = new Map<string, ValidateFunction>();

/** An exchange with the control plane, as it went over the wire. */
export interface Exchange {
  readonly method: string;
  /** With its query, and with `/i/{id}` in front of it when it was one of an instance. */
  readonly path: string;
  readonly sent: { readonly type: string | undefined; readonly json: unknown };
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** The path of the description that a path of a request is one of; `undefined` when there is none. */
export function describedPath(path: string): string | undefined {
  const asked = (path.split("?")[0] as string).replace(/^\/i\/[^/]+/, "").replace(/(?<=.)\/$/, "");
  return Object.keys(description.paths).find((template) => {
    const steps = template.replace(/\/$/, "").split("/");
    const found = asked.split("/");
    return (
      steps.length === found.length &&
      steps.every((step, index) => (step.startsWith("{") ? found[index] !== "" : step === found[index]))
    );
  });
}

/** Expects that an answer is what the description says of it, and a body that was taken one that it says is taken. */
export function expectDescribed(exchange: Exchange): void {
  const { method, path, status, text } = exchange;
  expectSafeHeaders(exchange);
  const template = describedPath(path);
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const operation = template === undefined ? undefined : description.paths[template]?.[verb];
  if (operation === undefined || template === undefined) {
    expect([400, 401, 403, 404, 405]).toContain(status);
    if (method !== "HEAD") expectValid("/components/schemas/Error", JSON.parse(text));
    return;
  }
  const named = String(status) in operation.responses ? String(status) : "default";
  if (named === "default") expect(status).toBeGreaterThanOrEqual(400);
  const content = operation.responses[named]?.content;
  if (content === undefined) {
    expect([status, text]).toEqual([204, ""]);
  } else {
    const type = String(exchange.headers["content-type"]).split(";")[0] as string;
    expect(Object.keys(content)).toContain(type);
    if (method !== "HEAD") {
      const pointer = `/paths/${escaped(template)}/${verb}/responses/${named}/content/${escaped(type)}/schema`;
      expectValid(pointer, type === "application/json" ? JSON.parse(text) : text);
    }
  }
  if (status < 300) expectBodyDescribed(exchange, operation, `/paths/${escaped(template)}/${verb}`);
}

function expectBodyDescribed({ sent }: Exchange, { requestBody }: Operation, pointer: string): void {
  const type = sent.type?.split(";")[0];
  if (type === undefined) expect(requestBody?.required ?? false).toBe(false);
  else if (requestBody === undefined) expect(sent.json).toEqual({});
  else if (type === "application/json") {
    expectValid(`${pointer}/requestBody/content/application~1json/schema`, sent.json);
  } else expect(Object.keys(requestBody.content)).toContain("application/yaml");
}

/** No answer may be read by other origins, be kept by a cache, or be shown in a frame. */
function expectSafeHeaders({ headers, status }: Exchange): void {
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect(headers.etag).toBeUndefined();
  expect(headers["x-powered-by"]).toBeUndefined();
  expect([headers["cache-control"], headers["x-frame-options"], headers["x-content-type-options"]]).toEqual([
    "no-store",
    "DENY",
    "nosniff",
  ]);
  if (status === 405) expect(headers.allow).toMatch(/^[A-Z]+(?:, [A-Z]+)*$/);
  if (status === 401) expect(headers["www-authenticate"]).toMatch(/^Bearer /);
}

function expectValid(pointer: string, value: unknown): void {
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `control#${pointer}` });
  compiled.set(pointer, validate);
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

function escaped(part: string): string {
  return part
    .replaceAll("~", "~0")
    .replaceAll("/", "~1")
    .replace(/[{}]/g, (brace) => encodeURIComponent(brace));
}
