import { expect, it } from "vitest";
import { inventor } from "./invent.js";
import { inventKeyName } from "./key-names.js";
import { inventOrganizationName } from "./organization-names.js";

it("invents the names of organizations and keys", () => {
  expect(inventor.organizationName(1, "a-bank", "bank")).toBe(inventOrganizationName(1, "a-bank", "bank"));
  expect(inventor.keyName(1, "a-key")).toBe(inventKeyName(1, "a-key"));
});
