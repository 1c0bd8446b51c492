import { writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";
import { scenarioJsonSchema } from "../src/scenario/json-schema.js";

const header = "// Made by `npm run generate` from src/scenario/schema.ts. Do not edit.\n";
const types = await compile(scenarioJsonSchema() as never, "Scenario", {
  bannerComment: header,
  additionalProperties: false,
  ignoreMinAndMaxItems: true,
});
await writeFile(new URL("../src/scenario/scenario.generated.ts", import.meta.url), types);
