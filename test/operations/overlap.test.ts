import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { createSandbox, parseScenario } from "../../src/index.js";
import { scenarioNames } from "../../src/scenario/bundled.js";
import { controlBodySchema, scenarioJsonSchema } from "../../src/scenario/format/scenario-json-schema.js";
import { served } from "../support/servers.js";

const head = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";
const storyWith = (overlap: unknown) =>
  `${head}story: [{ rotate: { key: main, overlap: ${JSON.stringify(overlap)} } }]\n`;
const matches = (schema: object) => new Ajv2020({ strict: false }).compile(schema);
const ofScenario = matches(scenarioJsonSchema(scenarioNames));
const ofCall = matches(controlBodySchema("key_rotation"));

/** Who accepts an overlap, whose range only the operation knows. */
async function acceptedBy(overlap: unknown): Promise<string[]> {
  const tried = (run: () => unknown) => {
    try {
      run();
      return true;
    } catch {
      return false;
    }
  };
  const { controlUrl } = await served({ scenario: "active" });
  const { status } = await fetch(`${controlUrl}/keys/active/rotate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ overlap }),
  });
  const accepted = {
    library: tried(() =>
      createSandbox({ scenario: "active" }).keys.rotate("active", { overlap: overlap as 0 }),
    ),
    yaml: tried(() => parseScenario(storyWith(overlap))),
    http: status === 201,
    schema: ofScenario({ version: 1, organizations: {}, story: [{ rotate: { key: "main", overlap } }] }),
    "schema of the call": ofCall({ overlap }),
  };
  return Object.entries(accepted).flatMap(([name, isAccepted]) => (isAccepted ? name : []));
}

const everywhere = ["library", "yaml", "http", "schema", "schema of the call"];

test.each([0, "0s", "30m", "1h", "7d"])("an overlap is the same everywhere: %j is one", async (overlap) => {
  expect(await acceptedBy(overlap)).toEqual(everywhere);
});

test.each([60, 60_000, -1, 0.5, "250ms", "1500ms", "0ms", "60", "0", "", "soon", true, null, {}])(
  "an overlap is the same everywhere: %j is none",
  async (overlap) => {
    expect(await acceptedBy(overlap)).toEqual([]);
  },
);

test("without a unit, the hint names the units", () => {
  const { keys } = createSandbox({ scenario: "active" });
  expect(() => keys.rotate("active", { overlap: 60 as 0 })).toThrow(
    expect.objectContaining({
      code: "validation_failed",
      details: { fields: { overlap: expect.stringContaining(`write 60s or 60m`) } },
    }),
  );
});
