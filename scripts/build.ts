import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApiDocument } from "../src/api/openapi.js";
import { certificateJsonSchema } from "../src/certify/certificate/certificate.js";
import { scenarioNames } from "../src/scenario/bundled.js";
import { scenarioJsonSchema } from "../src/scenario/format/scenario-json-schema.js";
import { bundle, emitTypes, entries, pageEntries } from "./bundle.js";
import { buildDashboard } from "./dashboard.js";
import { buildDocs } from "./docs-pages.js";
import { root } from "./run-program.js";
import { thirdParty } from "./third-party-notices.js";

const dist = join(root, "dist");
await rm(dist, { recursive: true, force: true });
const [page, commonJs, dashboard] = await Promise.all([
  bundle("page", { root, entries: pageEntries, into: join(dist, "browser") }),
  bundle("cjs", { root, entries: { ...entries, cli: "src/cli/cli.ts" }, into: join(dist, "cjs") }),
  buildDashboard(),
  bundle("esm", {
    root,
    entries,
    into: join(dist, "esm"),
  }),
  emitTypes(root, [join(dist, "esm"), join(dist, "cjs")]),
]);
// The package is one of ES modules; this part of it is not.
await writeFile(join(dist, "cjs/package.json"), '{ "type": "commonjs" }\n');

await buildDocs(join(dist, "docs.json.br"));
const { notices, sbom } = await thirdParty([...page, ...commonJs, ...dashboard]);
await writeFile(join(dist, "THIRD-PARTY-NOTICES.txt"), notices);
await writeFile(join(dist, "sbom.cdx.json"), sbom);
const documents = {
  "scenario.schema.json": scenarioJsonSchema(scenarioNames),
  "certificate.schema.json": certificateJsonSchema(),
  "openapi.json": openApiDocument(),
};
for (const [name, document] of Object.entries(documents)) {
  await writeFile(join(dist, name), `${JSON.stringify(document, null, 2)}\n`);
}
