import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import { handle } from "./handle.js";
import { readApiRequest } from "./read-request.js";
import { requestDetails } from "./request-details.js";

test.each([
  [`/v1/SVC_test_sbx${"0".repeat(29)}`, "/v1/SVC_test_*"],
  ["/v1/é", "/v1/*"],
  ["/v1/€/🚜", "/v1/*/*"],
  ["v1", "/v1"],
])("the path %s of a request is sent again as %s", (path, sent) => {
  const sandbox = startFrozen("key-states");
  const { id } = handle(sandbox, readApiRequest({ method: "GET", path, query: "", headers: [] }));
  expect(requestDetails(sandbox, id).repeat.path).toBe(sent);
});

test("the longest path that the journal shows can be sent again", () => {
  const sandbox = startFrozen("key-states");
  const path = `/${"%E9é".repeat(1000)}`;
  const { id } = handle(sandbox, readApiRequest({ method: "GET", path, query: "", headers: [] }));
  expect(requestDetails(sandbox, id).repeat.path?.length).toBeLessThanOrEqual(1000);
});
