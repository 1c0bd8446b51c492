import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import { handle } from "./handle.js";
import { readApiRequest } from "./read-request.js";
import { requestDetails } from "./request-details.js";

test.each([
  ["GET", "/v1/other", { key: "none", path: "/v1/other" }],
  ["GET", `/v1/SVC_test_sbx${"0".repeat(29)}`, null],
  ["GET", "/v1/é", null],
  ["GET", "v1", null],
  ["get", "/v1/other", null],
])("the request %s %s is repeated as it is, or not at all", (method, path, repeat) => {
  const sandbox = startFrozen("key-states");
  const { id } = handle(sandbox, readApiRequest({ method, path, query: "", headers: [] }));
  expect(requestDetails(sandbox, id).repeat).toEqual(repeat);
});
