import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Scenario } from "../../src/index.js";
import { sandboxOf } from "./world.js";

// Ten documents in the style of public ones. Each collection needs at most six lines of YAML.

type Schema = Readonly<Record<string, unknown>>;

interface Style {
  readonly style: string;
  readonly path: string;
  /** The record, in the body of a response. */
  readonly record: Schema;
  readonly wrap?: (record: Schema) => Schema;
  readonly list?: (item: Schema) => Schema;
  readonly query?: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  /** The method of the update. Default: PATCH. */
  readonly update?: string;
  readonly update_body?: Readonly<Record<string, unknown>>;
  readonly records: string;
}

const object = (properties: Schema, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});
const text = { type: "string" };
const integer = { type: "integer" };
const time = { type: "string", format: "date-time" };
const listOf = (items: Schema) => ({ type: "array", items });
const crud = "create: create\nread: read\nlist: list\nupdate: change\nremove: remove\n";

const styles: readonly Style[] = [
  {
    style: "petstore: integer ids, PUT, bare lists",
    path: "/pet",
    record: object({ id: integer, name: text, status: { enum: ["available", "sold"] }, tag: text }, ["name"]),
    body: { name: "Rex", status: "sold", id: 7 },
    update: "PUT",
    update_body: { name: "Max" },
    records: crud,
  },
  {
    style: "Stripe: prefixed ids, seconds, has_more and starting_after, POST",
    path: "/v1/customers",
    record: object({
      id: { type: "string", example: "cus_9s6XKzkNRiz8i3" },
      object: { const: "customer" },
      created: integer,
      metadata: { type: "object", additionalProperties: text },
      email: { type: ["string", "null"] },
    }),
    list: (item) => object({ object: { const: "list" }, data: listOf(item), has_more: { type: "boolean" } }),
    query: ["limit", "starting_after"],
    body: { email: "a@any.example", metadata: { order: "6735" } },
    update: "POST",
    update_body: { metadata: { more: "1" } },
    records: crud,
  },
  {
    style: "GitHub: numbers in the path, nested owners",
    path: "/repos/{owner}/{repo}/issues",
    record: object({ number: integer, title: text, state: { enum: ["open", "closed"] }, created_at: time }),
    query: ["per_page", "page", "state"],
    body: { title: "It fails" },
    records: `${crud}id: number\n`,
  },
  {
    style: "JSON:API: type and attributes",
    path: "/articles",
    record: object({
      type: { const: "articles" },
      id: text,
      attributes: object({ title: text, words: integer }),
    }),
    wrap: (record) => object({ data: record }),
    list: (item) => object({ data: listOf(item) }),
    body: { data: { type: "articles", attributes: { title: "Ten styles" } } },
    update_body: { data: { attributes: { words: 9 } } },
    records: crud,
  },
  {
    style: "uuids, a number in the path, page and total",
    path: "/shops/{shop}/orders",
    record: object({
      id: { type: "string", format: "uuid" },
      shop: integer,
      total: { type: "number" },
      createdAt: time,
    }),
    list: (item) => object({ items: listOf(item), page: integer, total: integer }),
    query: ["limit", "page"],
    body: { total: 9.5 },
    records: crud,
  },
  {
    style: "cursors",
    path: "/events",
    record: object({ id: { type: "string", pattern: "^evt-[0-9a-f]{12}$" }, name: text }),
    list: (item) => object({ results: listOf(item), next_cursor: { type: ["string", "null"] } }),
    query: ["limit", "cursor"],
    body: { name: "created" },
    records: crud,
  },
  {
    style: "another name of the id, in a wrapped object",
    path: "/accounts",
    record: object({ accountId: { type: "string", maxLength: 12 }, currency: { enum: ["GHS", "NGN"] } }),
    wrap: (record) => object({ account: record }),
    list: (item) => object({ accounts: listOf(item) }),
    body: { currency: "NGN" },
    records: `${crud}id: account.accountId\n`,
  },
  {
    style: "allOf, additionalProperties: false",
    path: "/users",
    record: {
      allOf: [
        object({ id: { type: "string", minLength: 8 } }),
        object({ name: text, role: { enum: ["user", "admin"] } }),
      ],
    },
    body: { name: "Ama", role: "admin" },
    records: crud,
  },
  {
    style: "OData: value",
    path: "/odata/Products",
    record: object({ id: integer, name: text, rating: { type: "integer", minimum: 1, maximum: 5 } }),
    list: (item) => object({ "@odata.count": integer, value: listOf(item) }),
    body: { name: "Seed", rating: 4 },
    records: crud,
  },
  {
    style: "HAL: lists in _embedded",
    path: "/fields",
    record: object({ id: text, crop: text, _links: object({ self: object({ href: text }) }) }),
    list: (item) => object({ _embedded: object({ fields: listOf(item) }), count: integer }),
    body: { crop: "maize" },
    records: crud,
  },
];

function documentOf({
  path,
  record,
  wrap = (one) => one,
  list = listOf,
  query = [],
  body,
  update = "PATCH",
}: Style) {
  const json = (schema: Schema) => ({ content: { "application/json": { schema } } });
  const response = (schema: Schema) => ({ description: "", ...json(schema) });
  const inPath = [...path.matchAll(/\{(\w+)\}/g), ["", "key"]].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: text,
  }));
  const requestBody = json(object(Object.fromEntries(Object.keys(body).map((name) => [name, {}])), []));
  const inQuery = query.map((name) => ({
    name,
    in: "query",
    schema: /^(?:cursor|start|state)/.test(name) ? text : integer,
  }));
  const one = response(wrap(record));
  return {
    openapi: "3.1.0",
    info: { title: "A style", version: "1" },
    paths: {
      [path]: {
        parameters: inPath.slice(0, -1),
        post: { operationId: "create", requestBody, responses: { 201: one } },
        get: { operationId: "list", parameters: inQuery, responses: { 200: response(list(record)) } },
      },
      [`${path}/{key}`]: {
        parameters: inPath,
        get: { operationId: "read", responses: { 200: one, 404: { description: "" } } },
        [update.toLowerCase()]: { operationId: "change", requestBody, responses: { 200: one } },
        delete: { operationId: "remove", responses: { 204: { description: "" } } },
      },
    },
  };
}

/** The value of a member anywhere in a body. */
function found(body: unknown, name: string): unknown {
  if (typeof body !== "object" || body === null) return undefined;
  if (Object.hasOwn(body, name)) return (body as Record<string, unknown>)[name];
  return Object.values(body)
    .map((one) => found(one, name))
    .find((one) => one !== undefined);
}

function itemsIn(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  return (
    Object.values(body as object)
      .map((one) => (typeof one === "object" && one ? itemsIn(one) : []))
      .find((one) => one.length > 0) ?? []
  );
}

describe.each(styles.map((one) => [one.style, one] as const))("%s", (_name, style) => {
  const records = { things: parse(style.records) } as NonNullable<Scenario["records"]>;
  const idName =
    /id: (?:\w+\.)?(\w+)\n$/.exec(
      style.records.replace(/^.*: (?:create|read|list|change|remove)\n/gm, ""),
    )?.[1] ?? "id";
  const path = style.path.replace(/\{\w+\}/g, "7");

  test("creates, reads, lists, changes and removes a record, which another organization does not see", async () => {
    expect(style.records.trim().split("\n").length).toBeLessThanOrEqual(6);
    const { sandbox, ask } = sandboxOf({ openapi: documentOf(style), records });
    const made = await ask(`POST ${path}`, { body: style.body });
    await ask(`POST ${path}`, { body: style.body });
    const id = found(made.body, idName);
    expect([made.status, id]).toEqual([201, expect.anything()]);
    const [name, value] = Object.entries(
      (style.body.data as { attributes: object })?.attributes ?? style.body,
    )[0] as [string, unknown];
    expect(found(made.body, name)).toEqual(value);
    const one = `${path}/${id}`;
    expect(await ask(`GET ${one}`)).toEqual({ status: 200, body: made.body });
    expect(itemsIn((await ask(`GET ${path}`)).body).map((item) => found(item, idName))).toEqual([
      id,
      expect.anything(),
    ]);
    expect((await ask(`GET ${path}`, { key: "others" })).status).toBe(200);
    expect(itemsIn((await ask(`GET ${path}`, { key: "others" })).body)).toEqual([]);
    expect((await ask(`GET ${one}`, { key: "others" })).status).toBe(404);
    const update = style.update_body ?? style.body;
    const changed = await ask(`${style.update ?? "PATCH"} ${one}`, { body: update });
    expect([changed.status, found(changed.body, idName)]).toEqual([200, id]);
    const [last = "", wanted] = Object.entries(update).at(-1) as [string, unknown];
    expect(found(changed.body, last)).toMatchObject(wanted as object);
    if (style.update === "PUT") expect(changed.body).not.toHaveProperty("status");
    if (style.query?.includes("starting_after")) {
      expect(found(made.body, "created")).toBe(Date.UTC(2026, 2, 2, 9) / 1000);
      expect(itemsIn((await ask(`GET ${path}?starting_after=${id}`)).body)).toHaveLength(1);
    }
    expect((await ask(`DELETE ${one}`)).status).toBe(204);
    if (style.query?.includes("cursor"))
      expect(itemsIn((await ask(`GET ${path}?cursor=${id}`)).body)).toHaveLength(1);
    expect((await ask(`GET ${one}`)).status).toBe(404);
    expect(itemsIn((await ask(`GET ${path}`)).body)).toHaveLength(1);
    expect(sandbox.records.list("things")).toHaveLength(1);
  });
});
