import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import { openApiDocument } from "../src/api/openapi.js";
import { bundledScenarios, type ScenarioName } from "../src/scenario/bundled.js";
import { describeDoors, headerOf, mePath, type Seen } from "./support/doors.js";

interface Described {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Record<
    string,
    Record<string, { readonly responses: Record<string, { headers?: object }> }>
  >;
}

const document = openApiDocument() as unknown as Described;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, "openapi");

/** Checks an answer against what the document says of its status. */
function expectDescribed(seen: Seen): void {
  const responses = document.paths[mePath]?.get?.responses ?? {};
  const status = String(seen.status) in responses ? String(seen.status) : "default";
  const pointer = `/paths/${mePath.replaceAll("/", "~1")}/get/responses/${status}/content/application~1json/schema`;
  const validate = ajv.compile({ $ref: `openapi#${pointer}` });
  const valid = validate(JSON.parse(seen.body));
  expect(validate.errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  if (responses[status]?.headers !== undefined) expect(headerOf(seen, "x-request-id")).not.toBeUndefined();
}

test("R48 the description is OpenAPI 3.1.0 of version 0.1.0", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info.version).toBe("0.1.0");
  expect(Object.keys(document.paths)).toEqual([mePath]);
});

test("R48 the description lists exactly the statuses of the specification, and a default for the rest", () => {
  expect(Object.keys(document.paths[mePath]?.get?.responses ?? {})).toEqual([
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

describeDoors("the description and the answers", (open) => {
  test.each(
    Object.keys(bundledScenarios) as ScenarioName[],
  )("R48 every answer of the scenario %s validates against the description", async (name) => {
    const door = await open(name);
    for (const ref of door.world.registry.keys.keys()) expectDescribed(await door.me({ ref }));
    for (const header of [undefined, { header: "nonsense" }]) expectDescribed(await door.me(header));
    expectDescribed(await door.send({ method: "POST" }));
    await door.close();
  });
});
