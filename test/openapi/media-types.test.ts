import { expect, test } from "vitest";
import { documentReader } from "../../src/openapi/read-api.js";
import { content, documentOf, serving, success } from "../support/documents.js";

const notesOf = (document: object) =>
  documentReader.notes({ openapi: { text: JSON.stringify(document) } }, new Set()).notes;

const ofText = content({ type: "string" }, "text/csv", { example: "id" }).content;

test("JSON is sent in its documented media type, whatever a client accepts", async () => {
  const ofJson = content({ const: 1 }, "application/hal+json").content;
  const responses = { 200: { description: "", content: { ...ofText, ...ofJson } } };
  const { send } = serving(documentOf({ "/a": { get: { operationId: "a", responses } } }));
  for (const accept of ["*/*", "text/csv", "application/json"])
    expect(await send("GET /a", { accept })).toMatchObject({
      ...{ status: 200, type: "application/hal+json", text: "1" },
    });
});

test("a response without JSON has no body, and a note names the operation", async () => {
  const responses = { 200: { description: "", content: ofText } };
  const document = documentOf({ "/a": { get: { operationId: "a", responses } } });
  expect(await serving(document).send("GET /a")).toMatchObject({ status: 200, text: "" });
  expect(notesOf(document)).toContain("a responds without a body, because only JSON is served: text/csv.");
});

test("a body in a documented media type besides JSON is not checked, with a note; any other gets 400", async () => {
  const ofJson = content({ type: "object", required: ["a"] }).content;
  const type = "application/x-www-form-urlencoded";
  const ofForm = content({ type: "object", required: ["b"] }, type).content;
  const requestBody = { content: { ...ofJson, ...ofForm } };
  const document = documentOf({ "/a": { post: { operationId: "a", requestBody, responses: success({}) } } });
  const { send } = serving(document);
  const statusOf = async (type: string, body: string) =>
    (await send("POST /a", { "content-type": type }, body)).status;
  expect(await statusOf("application/json", '{"a":1}')).toBe(200);
  expect(await statusOf("application/json", '{"b":1}')).toBe(400);
  expect(await statusOf(type, "a=1")).toBe(200);
  expect(await statusOf("text/csv", "a=1")).toBe(400);
  expect(notesOf(document)).toContain(`a does not check a body that is not JSON: ${type}.`);
});
