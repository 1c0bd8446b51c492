import { expect, test } from "vitest";
import { asked } from "../../../test/support/send.js";
import { handle } from "../../api/handle.js";
import { readApiRequest } from "../../api/read-request.js";
import { startInNode } from "../../node/platform.js";
import { resolveSource } from "../../scenario/scenario-source.js";
import { secretToSend } from "../secrets.js";

const open = () => startInNode(resolveSource("key-states"));
const path = "/v1/relying-party/me";

test.each([
  [1000, true],
  [1001, false],
])("after %i rejected keys, it is noticed that the first one is resent: %j", (count, isNoticed) => {
  const sandbox = open();
  const send = (number: number) =>
    handle(sandbox, asked({ apiKey: `SVC_test_sbx${String(number).padStart(29, "0")}` })).advice;
  for (let number = 0; number < count; number += 1) send(number);
  expect(send(0).includes("sent-again-after-rejection")).toBe(isNoticed);
});

test.each([
  [99, "key-from-browser"],
  [100, "key-with-browser-headers"],
])("a page that asked to send a key, after %i other pages, gets the advice %s", (others, advice) => {
  const sandbox = open();
  const send = (method: string, ...headers: string[]) =>
    handle(sandbox, readApiRequest({ method, path, query: "", headers })).advice;
  const ask = (origin: string) => {
    const headers = ["Origin", origin, "Access-Control-Request-Method", "GET"];
    return send("OPTIONS", ...headers, "Access-Control-Request-Headers", "x-api-key");
  };
  for (let page = 0; page < others; page += 1) {
    expect(ask(`https://p${page}.example`)).toEqual(["key-from-browser"]);
  }
  ask("https://last.example");
  const key = secretToSend(sandbox, "active");
  expect(send("GET", "x-api-key", key, "Origin", "https://last.example")).toEqual([advice]);
  expect(send("GET", "x-api-key", key, "Origin", "https://none.example")).toEqual([
    "key-with-browser-headers",
  ]);
});
