import { expect, test } from "vitest";
import { serveControl } from "./client.js";

const key = `SVC_test_sbx${"a".repeat(29)}`;
const basic = `Basic ${btoa(`user:${key}`)}`;
const yaml = `
version: 1
name: Keys in a story
organizations:
  harvest-bank: { type: bank, keys: { main: { environment: test } } }
story:
  - request: { key: main, path: "/${key}", headers: { authorization: "${basic}" } }
    expect: { status: 404, body: { error: { message: "${key}" } } }
`;

test("R46 a key in a request of a story, or in what it expects, is in no response", async () => {
  const { ask } = await serveControl();
  const headers = { "content-type": "application/yaml" };
  const { text } = await ask("/scenario", { method: "PUT", bytes: yaml, headers });
  const texts = [text];
  const post = { method: "POST", json: {} };
  texts.push((await ask("/story")).text, (await ask("/story/next", post)).text);
  for (const path of ["/story", "/scenario", "/requests"]) texts.push((await ask(path)).text);
  const all = texts.join("\n");
  expect(all).toContain("Keys in a story");
  expect(all).not.toContain(key);
  expect(all).not.toContain(basic);
});
