import { expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../src/index.js";
import { startServer } from "../src/node/index.js";
import { encodedWhole, realKey } from "./support/conduct-cases.js";
import { converse } from "./support/raw-socket.js";
import { mePath } from "./support/send.js";

const url = `https://any.example${mePath}`;

/** The first example of an advice. */
const exampleOf = (sandbox: Pick<ReturnType<typeof createSandbox>, "report">, id: string) =>
  sandbox.report().advice.find((row) => row.id === id)?.examples[0];

test("the example of a key in the query is of that key, and the journal's of the one that was presented", async () => {
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

test("a pinned key that leaks is no key of somebody else's", async () => {
  const keys = { pinned: { environment: "live", secret: realKey } } as const;
  const sandbox = createSandbox({
    scenario: { version: 1, organizations: { bank: { type: "bank", keys } } },
  });
  await sandbox.fetch(`${url}?a=${realKey}`);
  expect(sandbox.report().advice.map(({ id }) => id)).toEqual(["key-in-query"]);
  expect(exampleOf(sandbox, "key-in-query")?.key).toBe("pinned");
});

test.each([
  ["nothing", "0\r\n\r\n", []],
  ["something", "2\r\n{}\r\n0\r\n\r\n", ["query-or-body-sent"]],
  ["nothing at first", "", ["query-or-body-sent"]],
])("a body in pieces that hold %s", async (_what, body, advice) => {
  const server = await startServer();
  onTestFinished(() => server.close(0));
  const head = `GET ${mePath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${server.sandbox.secret("active")}`;
  const answer = await converse(Number(new URL(server.url).port), {
    chunks: [`${head}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body}`],
    after: "listen",
  });
  expect(String(answer)).toContain("200 OK");
  expect(server.sandbox.requests.list().map((one) => one.advice)).toEqual([advice]);
});
