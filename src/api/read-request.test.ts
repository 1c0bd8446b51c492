import { expect, test } from "vitest";
import { findKeys, isMeantAsKey } from "../rules/keys/find-keys.js";
import { readApiRequest } from "./read-request.js";

const key = "SVC_test_sbx0000";

test.each([
  ["Bearer <key>", true],
  ["x-api-key: <key>", true],
  ["$SVC_API_KEY", true],
  [["$", "{SVC_API_KEY}"].join(""), true],
  ["%SVC_API_KEY%", true],
  ["{{ api_key }}", true],
  ['"undefined"', true],
  ['"SVC_API_KEY', true],
  ['"', false],
  ["SVC_KEY_ACTIVE", true],
  ["SVC_API_KEY", true],
  ["process.env.SVC_API_KEY", true],
  ["SVC_API_KEYS", false],
  ["not-a-key", false],
  ["50%", false],
  ["Bearer SVC%5Ftest%5Fsbx0000", true],
  // A test of its own for what is malformed.
  ["<key>, <key>", false],
])("%s was meant as a key: %s", (text, expected) => {
  const sent = text.replaceAll("<key>", key);
  expect(isMeantAsKey(sent, findKeys(sent))).toBe(expected);
});

test.each([
  ["a key in the path", `/${key}`, {}, { inUrl: [key] }],
  ["an encoded key in the path", `/${encodeURIComponent(key)}%5f`, {}, { inUrl: [`${key}_`] }],
  ["a key in the user info", `http://${key}@host/`, {}, { inUrl: [key] }],
  ["a key in the query", `/?key=${key}`, {}, { inQuery: [key] }],
  ["a key in a header", "", { "x-api-key": `${key}a`, cookie: `k=${key}` }, { inOtherHeaders: [key] }],
  ["a key in credentials", "", { authorization: `Basic ${btoa(`u:${key}`)}` }, { inOtherHeaders: [key] }],
  ["credentials elsewhere", "", { cookie: `Basic ${btoa(`u:${key}`)}` }, undefined],
  ["an origin", "", { origin: "https://shop.example" }, { page: "https://shop.example" }],
  ["a page", "", { referer: "https://shop.example/orders" }, { page: "https://shop.example" }],
  ["an origin that no page of the web has", "", { origin: "chrome-extension://abc" }, {}],
  ["an endless origin", "", { origin: `https://${"a".repeat(300)}` }, {}],
])("the evidence of a request with %s", (_what, target, headers, expected) => {
  const none = { inQuery: [], inUrl: [], inOtherHeaders: [], page: undefined };
  const [path = "", query = ""] = target.split(/(?=\?)/);
  const { evidence } = readApiRequest({
    method: "GET",
    path,
    query,
    headers: Object.entries(headers).flat(),
  });
  expect(evidence).toEqual(expected && { ...none, ...expected });
});

const cutKey = `sbx${"0aB".repeat(10).slice(1)}`;
test.each([
  ["user-agent", cutKey, "…"],
  ["user-agent", `bank/1 (${cutKey}; x)`, "bank/1 (…; x)"],
  ["user-agent", "my-bank-relying-party-client/10.20.30", "my-bank-relying-party-client/10.20.30"],
])(
  "R46 the header %s with the value %s, which may have a key without its prefix, is kept as %s",
  (name, value, shown) => {
    const { keptHeaders } = readApiRequest({ method: "GET", path: "/", query: "", headers: [name, value] });
    expect(keptHeaders).toEqual([name, shown]);
  },
);

test("R46 a kept header loses its keys before it is cut: a key across character 200, and the text after it", () => {
  const words = "client/1 ".repeat(20);
  const agent = `${words}${key}${"0".repeat(40)} bank/1`;
  const { keptHeaders } = readApiRequest({
    method: "GET",
    path: "/",
    query: "",
    headers: ["User-Agent", agent],
  });
  expect(keptHeaders).toEqual(["user-agent", `${words}SVC_test_… bank/1`]);
});

test("R46 a kept header whose name is like a key is kept without it, and each name is kept once", () => {
  const named = ["svc_test_sbx0000abc", key];
  const many: string[] = [];
  for (let nth = 0; nth < 100; nth++) many.push(`x-${nth}`, key, "cookie", key, "user-agent", "bank/1");
  const headers = [...named, ...many];
  const { keptHeaders } = readApiRequest({ method: "GET", path: "/", query: "", headers });
  expect(keptHeaders.slice(0, 2)).toEqual(["svc_test_…", "SVC_test_…"]);
  const names = keptHeaders.filter((_, index) => index % 2 === 0);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeLessThan(30);
});
