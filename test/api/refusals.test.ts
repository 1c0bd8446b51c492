import { expect, test } from "vitest";
import { openApi } from "../support/api-client.js";
import { headerOf } from "../support/doors.js";
import { expectError } from "../support/expect-error.js";

test.each([
  ["R9 without a key", undefined, "401.missing"],
  ["R10 with a malformed key", { header: "Bearer 123" }, "401.malformed"],
  ["R10 with an empty header", { header: "" }, "401.malformed"],
  ["R12 with a revoked key", { ref: "revoked" }, "401.revoked"],
  ["R13 with an expired key", { ref: "expired" }, "401.expired"],
  ["R13 with a replaced key whose overlap is over", { ref: "rotated" }, "401.rotated"],
])("%s the answer is 401 unauthorized", async (_title, key, path) => {
  const { me, lastPath } = openApi("key-states");
  expectError(await me(key), 401, "unauthorized");
  expect(lastPath()).toBe(path);
});

test.each([
  ["active", "SVC_test_", "SVC_live_"],
  ["live", "SVC_live_", "SVC_test_"],
  ["legacy", "legacysvc_test_", "legacysvc_live_"],
  ["active", "SVC_test_", "legacysvc_test_"],
])("R11 R15 the body of %s behind the prefix of another key than %s is an unknown key: %s", async (ref, mine, other) => {
  const { sandbox, me, lastPath } = openApi("key-states");
  expectError(await me({ header: sandbox.secret(ref).replace(mine, other) }), 401, "unauthorized");
  expect(lastPath()).toBe("401.unknown");
});

test.each([
  ["R18", "organization-inactive", "access_denied", "403.access_denied"],
  ["R19", "live-not-approved", "live_access_not_approved", "403.live_not_approved"],
  ["R20", "live-suspended", "live_access_not_approved", "403.live_suspended"],
  ["R21", "wrong-scope", "insufficient_scope", "403.insufficient_scope"],
])("%s the key %s gets 403 %s", async (_rule, ref, code, path) => {
  const { me, lastPath } = openApi("key-states");
  expectError(await me({ ref }), 403, code);
  expect(lastPath()).toBe(path);
});

test("R47 the version is in the path: without it, or with another, there is nothing", async () => {
  const { sandbox, send } = openApi("key-states");
  const headers = { "x-api-key": sandbox.secret("active") };
  for (const path of [
    "/relying-party/me",
    "/v2/relying-party/me",
    "/",
    "/V1/relying-party/me",
    "//v1/relying-party/me",
  ])
    expectError(await send({ path, headers }), 404, "not_found");
});

test("another method gets 405 with Allow, before the key is checked", async () => {
  const { send } = openApi("key-states");
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const seen = await send({ method });
    expectError(seen, 405, "method_not_allowed");
    expect(headerOf(seen, "allow")).toBe("GET, HEAD");
  }
});

test("HEAD answers as GET without the body, and counts", async () => {
  const { sandbox, send, data } = openApi("key-states");
  const headers = { "x-api-key": sandbox.secret("active") };
  const get = await send({ headers });
  const head = await send({ headers, method: "HEAD" });
  expect([head.status, head.body]).toEqual([200, ""]);
  expect(headerOf(head, "content-length")).toBe(headerOf(get, "content-length"));
  expect((await data("active")).usage.today).toBe(3);
});
