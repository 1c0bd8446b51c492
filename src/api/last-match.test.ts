import { expect, test } from "vitest";
import { createSandbox } from "../index.js";

const key = "SVC_live_9f8e7d6c5b4a";
const encoded = [...key].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");

test.each<[where: string, path: string, headers: Readonly<Record<string, string>>]>([
  ["in x-api-key", "/v1/relying-party/me", { "x-api-key": key }],
  ["with a word in x-api-key", "/v1/relying-party/me", { "x-api-key": `Bearer ${key}` }],
  ["in the query", `/v1/relying-party/me?key=${encoded}`, {}],
  ["in the path", `/v1/${key}/a b`, {}],
  ["in another header", "/v1/relying-party/me", { "user-agent": `agent ${key}`, cookie: btoa(key) }],
])(
  "R35 R46 after a request with a key %s, no regular expression keeps it as its last text",
  async (_where, path, headers) => {
    const sandbox = createSandbox({ scenario: "key-states" });
    await sandbox.fetch(`https://api.example${path}`, { headers });
    expect([RegExp.input.includes("9f8e7d6c"), RegExp.input.includes("%39%66")]).toEqual([false, false]);
  },
);
