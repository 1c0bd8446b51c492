import { join } from "node:path";
import { expect, test } from "vitest";
import { farmerShape } from "../../src/sandbox/farmer-records/farmer-shape.js";
import { jsonSchemaOf } from "../../src/schema/json-schema.js";
import { membersIn, pageOf, root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";

test.each(["organizations.json", "farmers.json", "farmers.csv", "farmers.geojson"])(
  "fixtures/%s has the first 20 records of the product (npm run docs:update)",
  async (file) => {
    const [kind = "", format = ""] = file.split(".");
    const { stdout } = await runCli(["fixtures", kind, "--count", "20", "--format", format]);
    await expect(stdout).toMatchFileSnapshot(join(root, "fixtures", file));
  },
);

test("fixtures/README.md names every field of the record", () => {
  const page = pageOf("fixtures/README.md");
  const fields = membersIn(jsonSchemaOf(farmerShape));
  expect(fields.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
