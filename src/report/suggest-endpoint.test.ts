import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import { suggestEndpoint } from "./suggest-endpoint.js";

const sandbox = startFrozen({ version: 1, endpoints: { listItems: { path: "/v1/items/", body: {} } } });

test.each([
  ["/v2/items", "GET /v1/items/"],
  ["/V1//Items", "GET /v1/items/"],
  ["/v1/items/details", "GET /v1/items/"],
  ["/v1/items.json", "GET /v1/items/"],
  ["/", undefined],
])("an endpoint whose path ends with a slash is suggested by its last segment: %s", (path, suggestion) => {
  expect(suggestEndpoint("GET", path, sandbox)).toBe(suggestion);
});
