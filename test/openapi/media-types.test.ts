import { expect, test } from "vitest";
import { content, documentOf, serving, success } from "../support/documents.js";

const report = {
  ...content({ type: "object", properties: { id: { const: 1 } }, required: ["id"] }).content,
  ...content({ type: "string" }, "text/csv", { example: "id\n1" }).content,
  ...content({ type: "object", properties: { href: { const: "a" } } }, "application/hal+json").content,
};
const reading = (responses: object = {}) =>
  documentOf({
    "/report": {
      get: { operationId: "a", responses: { 200: { description: "", content: report }, ...responses } },
    },
  });

test.each([
  ["nothing", undefined, "application/json", '{"id":1}'],
  ["anything", "*/*", "application/json", '{"id":1}'],
  ["a text", "text/csv", "text/csv", "id\n1"],
  ["any text", "text/*;q=0.9, image/png", "text/csv", "id\n1"],
  ["a text before JSON", "application/json;q=0.5, text/csv", "text/csv", "id\n1"],
  ["JSON in a charset", "application/json; charset=utf-8", "application/json", '{"id":1}'],
  ["another form of JSON", "application/hal+json", "application/hal+json", '{"href":"a"}'],
])("a client that accepts %s gets the media type that fits", async (_, accept, type, text) => {
  const { send } = serving(reading());
  const sent = await send("GET /report", accept === undefined ? {} : { accept });
  expect(sent).toEqual({ status: 200, type, text, note: undefined });
});

test("a media type that the document lacks gets the documented 406, or the usual response and a note", async () => {
  const { send } = serving(reading());
  const note = expect.stringContaining("Accept: image/png");
  const accept = "image/png";
  expect(await send("GET /report", { accept })).toMatchObject({
    status: 200,
    type: "application/json",
    note,
  });
  const refusing = serving(
    reading({ 406: { description: "", ...content({ const: "no" }, "application/problem+json") } }),
  );
  const type = "application/problem+json";
  expect(await refusing.send("GET /report", { accept })).toEqual({ status: 406, type, text: '"no"', note });
  const empty = serving(documentOf({ "/a": { get: { responses: { 204: { description: "" } } } } }));
  expect(await empty.send("GET /a", { accept })).toMatchObject({ status: 204, note: undefined });
});

test("an error has its documented media type", async () => {
  const problem = content(
    { type: "object", required: ["title"], properties: { title: { const: "no" } } },
    "application/problem+json",
  );
  const { send } = serving(
    documentOf({
      "/a": {
        get: {
          operationId: "a",
          parameters: [{ name: "n", in: "query", schema: { type: "integer" } }],
          responses: { ...success({}), 400: { description: "", ...problem } },
        },
      },
    }),
  );
  const sent = await send("GET /a?n=x");
  expect(sent).toMatchObject({ status: 400, type: "application/problem+json", text: '{"title":"no"}' });
});

test("a body is checked by the schema of its own media type", async () => {
  const ofJson = content({ type: "object", required: ["a"] }).content;
  const ofForm = content({ type: "object", required: ["b"] }, "application/x-www-form-urlencoded").content;
  const { send } = serving(
    documentOf({
      "/a": {
        post: {
          operationId: "a",
          requestBody: { content: { ...ofJson, ...ofForm } },
          responses: success({}),
        },
      },
    }),
  );
  const statusOf = async (type: string, body: string) =>
    (await send("POST /a", { "content-type": type }, body)).status;
  expect(await statusOf("application/json", '{"a":1}')).toBe(200);
  expect(await statusOf("application/json", '{"b":1}')).toBe(400);
  expect(await statusOf("application/x-www-form-urlencoded", "b=1")).toBe(200);
  expect(await statusOf("application/x-www-form-urlencoded", "a=1")).toBe(400);
});
