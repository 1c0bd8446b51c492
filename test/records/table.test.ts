import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { content, documentOf } from "../support/documents.js";
import { pageOf } from "../support/pages.js";
import { sandboxOf } from "./sandbox.js";

// Documents in the style of public ones. Each collection needs at most six lines of YAML.

type Members = Readonly<Record<string, unknown>>;

interface Style {
  readonly style: string;
  readonly path: string;
  /** The members of the record, or its whole schema. */
  readonly record: Members;
  readonly schema?: object;
  readonly required?: readonly string[];
  /** The member of a response that has the record. */
  readonly wrap?: string;
  readonly list?: Members;
  readonly query?: readonly string[];
  readonly body: Members;
  /** The method of the update. Default: PATCH. */
  readonly update?: string;
  readonly update_body?: Members;
  readonly id?: string;
}

const styles: readonly Style[] = parse(pageOf("test/cases/record-styles.yaml"));
const operations = { create: "create", read: "read", list: "list", update: "change", remove: "remove" };

/** An object of these members; a list is one of items. */
const objectOf = (members: Members, required = Object.keys(members), items?: object): object => ({
  type: "object",
  required,
  properties: Object.fromEntries(
    Object.entries(members).map(([name, member]) => {
      if (Array.isArray(member)) return [name, { type: "array", items }];
      if (typeof member === "string") return [name, { type: member }];
      return [name, name === "_embedded" ? objectOf(member as Members, undefined, items) : member];
    }),
  ),
});

function styledDocument({ path, record, wrap, list, query = [], body, update = "PATCH", ...style }: Style) {
  const schema = style.schema ?? objectOf(record, style.required as string[] | undefined);
  const response = (one: object) => ({ description: "", ...content(one) });
  const inPath = [...path.matchAll(/\{(\w+)\}/g), ["", "key"]].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
  }));
  const requestBody = content(objectOf(Object.fromEntries(Object.keys(body).map((name) => [name, {}])), []));
  const inQuery = query.map((name) => ({
    ...{ name, in: "query", schema: { type: /^(?:cursor|start|state)/.test(name) ? "string" : "integer" } },
  }));
  const one = response(wrap === undefined ? schema : objectOf({ [wrap]: schema }));
  const all = response(
    list === undefined ? { type: "array", items: schema } : objectOf(list, undefined, schema),
  );
  return documentOf({
    [path]: {
      parameters: inPath.slice(0, -1),
      post: { operationId: "create", requestBody, responses: { 201: one } },
      get: { operationId: "list", parameters: inQuery, responses: { 200: all } },
    },
    [`${path}/{key}`]: {
      parameters: inPath,
      get: { operationId: "read", responses: { 200: one, 404: { description: "" } } },
      [update.toLowerCase()]: { operationId: "change", requestBody, responses: { 200: one } },
      delete: { operationId: "remove", responses: { 204: { description: "" } } },
    },
  });
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
  const { id: idPath } = style;
  const records = { things: { ...operations, ...(idPath !== undefined && { id: idPath }) } };
  const idName = idPath?.split(".").at(-1) ?? "id";
  const path = style.path.replace(/\{\w+\}/g, "7");

  test("creates, reads, lists, changes and removes a record, which another organization does not see", async () => {
    const { sandbox, ask } = sandboxOf({ openapi: styledDocument(style), records });
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
