import { expect, test } from "vitest";
import { openApi } from "../support/api-client.js";
import { answeringScenarios } from "../support/conformance-cases.js";
import { mePath } from "../support/doors.js";
import { description, expectDescribed } from "../support/expect-described.js";

test("R48 the description is OpenAPI 3.1.0 of version 0.1.0", () => {
  expect(description.openapi).toBe("3.1.0");
  expect(description.info.version).toBe("0.1.0");
  expect(Object.keys(description.paths)).toEqual([mePath]);
});

test("R48 the description lists exactly the statuses of the specification, and a default for the rest", () => {
  expect(Object.keys(description.paths[mePath]?.get?.responses ?? {})).toEqual([
    "200",
    "401",
    "403",
    "429",
    "default",
  ]);
});

test("the description refuses what the specification does not allow", () => {
  const body = { data: { environment: "test" } };
  const wrong = { status: 200, headers: [["X-Request-Id", "1"]], body: JSON.stringify(body) } as const;
  expect(() => expectDescribed(wrong)).toThrow();
  expect(() =>
    expectDescribed({ ...wrong, status: 401, body: '{"error":{"code":"expired","message":"x"}}' }),
  ).toThrow();
});

test.each(
  answeringScenarios,
)("R48 every answer of the scenario %s validates against the description", async (name) => {
  const { sandbox, me, send } = openApi(name);
  for (const { ref } of sandbox.keys.list()) expectDescribed(await me({ ref }));
  for (const header of [undefined, { header: "nonsense" }]) expectDescribed(await me(header));
  expectDescribed(await send({ method: "POST" }));
});
