import { expect, test } from "vitest";
import { redactPath, redactValue } from "./redact.js";

const key = "SVC_live_9f8e7d6c5b4a";

const hexOf = (text: string) => [...text].map((one) => one.charCodeAt(0).toString(16)).join("");
const encodedWhole = (text: string) => text.replaceAll(/./g, (one) => `%${hexOf(one)}`);

test.each([
  [`/x/${key}/y`, "/x/SVC_live_…/y"],
  [`/x/${encodedWhole(key)}`, "/x/SVC_live_…"],
  [`/x/${encodeURIComponent(encodedWhole(key))}`, "/x/SVC_live_…"],
  [`/x/${btoa(key)}`, `/x/${btoa("SVC_live_")}…`],
  [`/x/${btoa(`${key}:`)}==?`, `/x/${btoa("SVC_live_")}…`],
  [`/x/${btoa("legacysvc_test_0123")}`, `/x/${btoa("legacysvc_test_")}…`],
  [`/x/${btoa(`a:${key}`)}/y`, `/x/${btoa("a:SVC_live_").slice(0, 14)}…`],
  [`/x/${btoa(`:${key}`)}`, `/x/${btoa(":SVC_live_").slice(0, 13)}…`],
  [`/x/${hexOf(key)}.y`, `/x/${hexOf("SVC_live_")}…`],
  [
    `/x/0x${hexOf(`legacy${key.toLowerCase()}`).toUpperCase()}`,
    `/x/0x${hexOf("legacysvc_live_").toUpperCase()}…`,
  ],
  [`/x/${key.replaceAll(/./g, (one) => `%u00${hexOf(one)}`)}`, "/x/SVC_live_…"],
  [`/x/%25u0053${key.slice(1)}`, "/x/SVC_live_…"],
  ["/x/%u0053%u1234", "/x/%u0053%u1234"],
  ["/x/%41%20%zz", "/x/%41%20%zz"],
  [`/x/${btoa("SVC_live_")}`, `/x/${btoa("SVC_live_")}`],
])("%s is shown as %s", (path, shown) => {
  expect(redactPath(path)).toBe(shown);
});

test("R46 a value has no key in a text or a name, except in a member that is kept", () => {
  const value = { [key]: [key, { name: `of ${key}`, kept: { secret: key }, none: null, count: 1 }] };
  expect(redactValue(value, undefined, (name) => name === "kept")).toEqual({
    "SVC_live_…": ["SVC_live_…", { name: "of SVC_live_…", kept: { secret: key }, none: null, count: 1 }],
  });
});

// As long as this, a search that starts again at each piece does not finish.
test.each([
  ["SVC_test_", "SVC_test_…"],
  [btoa("SVC_test_"), `${btoa("SVC_test_")}…`],
  ["%25", `${"%25".repeat(167).slice(0, 500)}…`],
  [`${btoa("SVC_test_x")}.`, `${btoa("SVC_test_")}…`],
])("a path of half a million %s is redacted in one pass", (piece, shown) => {
  expect(redactPath(piece.repeat(500_000))).toBe(shown);
});
