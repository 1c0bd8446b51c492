import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { mePath } from "../support/send.js";

const url = `https://any.example${mePath}`;
const realKey = "SVC_live_9f8e7d6c5b4a39281706f5e4d3c2b1a0";
const encodedWhole = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

/** The first example of an advice. */
const exampleOf = (sandbox: Pick<ReturnType<typeof createSandbox>, "report">, id: string) =>
  sandbox.report().advice.find((row) => row.id === id)?.examples[0];

test("the example of a key in the query is of that key, and the journal's of the one in the header", async () => {
  const sandbox = createSandbox();
  const path = `${url}?a=${encodedWhole(sandbox.secret("revoked"))}`;
  await sandbox.fetch(path, { headers: { "x-api-key": sandbox.secret("active") } });
  await sandbox.fetch(path);
  expect(exampleOf(sandbox, "key-in-query")).toMatchObject({
    path: mePath,
    key: "revoked",
    fingerprint: sandbox.keys.get("revoked").fingerprint,
  });
  expect(sandbox.requests.list().map(({ key, fingerprint }) => [key, fingerprint])).toEqual([
    ["active", sandbox.keys.get("active").fingerprint],
    [null, null],
  ]);
});

test("each advice of a request is about its own key, and none of them is in the report (R46)", async () => {
  const sandbox = createSandbox();
  await sandbox.fetch(`${url}?a=${realKey}`, {
    headers: { authorization: `Basic ${btoa(`:${sandbox.secret("live")}`)}`, "x-api-key": "none" },
  });
  expect(exampleOf(sandbox, "key-in-authorization")?.key).toBe("live");
  const real = exampleOf(sandbox, "real-key-suspected");
  expect(real).toEqual({ ...exampleOf(sandbox, "key-in-query"), key: null });
  expect(real?.fingerprint).toMatch(/^[0-9a-f]{12}$/);
  const text = JSON.stringify([sandbox.report(), sandbox.requests.list()]);
  for (const key of [realKey, sandbox.secret("live")]) expect(text).not.toContain(key.slice(9));
});

test("a pinned key that leaks is known", async () => {
  const keys = { pinned: { environment: "live", secret: realKey } } as const;
  const sandbox = createSandbox({
    scenario: { version: 1, organizations: { bank: { type: "bank", keys } } },
  });
  await sandbox.fetch(`${url}?a=${realKey}`);
  expect(sandbox.report().advice.map(({ id }) => id)).toEqual(["key-in-query"]);
  expect(exampleOf(sandbox, "key-in-query")?.key).toBe("pinned");
});
