import { expect, test } from "vitest";
import { SandboxError } from "../../rules/errors.js";
import { checkInput } from "../../rules/validation.js";
import { jsonNotation } from "../../schema/describe.js";
import { controlBodies } from "./inputs.js";

const key = "SVC_live_4eC39HqLyjWDarjtT1zdp7dc";

test("an input is checked as it is copied: a getter cannot show a key only to the copy (R46)", () => {
  let reads = 0;
  const sending = {
    key: "main",
    get body() {
      reads += 1;
      return reads === 1 ? "fine" : key;
    },
  };
  let input: unknown;
  try {
    input = checkInput(controlBodies.sending, sending, "read the body", jsonNotation);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "validation_failed" });
  }
  expect(JSON.stringify(input ?? null)).not.toContain(key);
});

test.each<[where: string, input: object]>([
  ["a value", { headers: { "X-Trace": key } }],
  ["a name", { headers: { [key]: "1" } }],
  ["a name in a body", { body: [{ [`a ${key}`]: 1 }] }],
])("an input must not contain a key, as %s (R46)", (_where, input) => {
  let error: unknown;
  try {
    checkInput(controlBodies.sending, { key: "main", ...input }, "read the body", jsonNotation);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(SandboxError);
  const { code, message, details } = error as SandboxError;
  expect(code).toBe("validation_failed");
  expect(message + JSON.stringify(details)).not.toContain("4eC39");
});

test("a leak inside a list has the name of the list in its message (R46)", () => {
  const creation = {
    organization: "bank",
    environment: "test",
    name: "A",
    scopes: ["a", "legacysvc_test_abc"],
  };
  expect(() => checkInput(controlBodies.key_creation, creation, "create a key", jsonNotation)).toThrow(
    expect.objectContaining({
      message: "Failed to create a key: scopes[1] must not contain an API key.",
      details: { fields: { "scopes[1]": "scopes[1] must not contain an API key" } },
    }),
  );
});
