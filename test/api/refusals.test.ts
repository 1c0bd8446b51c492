import { expect, test } from "vitest";
import { expectError, openApi } from "../support/api-client.js";
import { headerOf } from "../support/doors.js";

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
