import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "../src/api/openapi.js";
import { certificateJsonSchema } from "../src/certify/json-schema.js";
import { scenarioNames } from "../src/scenario/bundled.js";
import { scenarioJsonSchema } from "../src/scenario/format/json-schema.js";
import { bundle } from "./bundle.js";
import { buildDashboard } from "./dashboard.js";
import { emitTypes } from "./emit-types.js";
import { insideTexts, writeEsmDoors } from "./esm-doors.js";
import { pageParts } from "./parts.js";
import { buildSite } from "./site.js";
import { thirdParty } from "./third-party-notices.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const ownDoors = { index: "src/index.ts", node: "src/serve/index.ts" };
/** Entry points that import packages of the user. */
const peerDoors = {
  msw: "src/msw/index.ts",
  undici: "src/undici/create-dispatcher.ts",
  vitest: "src/runners/vitest.ts",
  playwright: "src/runners/playwright.ts",
};
const doors = { ...ownDoors, ...peerDoors };

await rm(dist, { recursive: true, force: true });

// For Node all of it is CommonJS, which loads faster, and of which parts can be read late without waiting.
const { modules, exports } = await bundle({
  root,
  entries: { ...doors, cli: "src/cli/cli.ts" },
  texts: await insideTexts(root, peerDoors),
  into: join(dist, "cjs"),
  format: "cjs",
});
// The package is one of ES modules; this part of it is not.
await writeFile(join(dist, "cjs/package.json"), '{ "type": "commonjs" }\n');
await writeEsmDoors({ root, dist, ownDoors, peerDoors, exports });
await bundle({
  root,
  entries: { index: doors.index, msw: doors.msw },
  into: join(dist, "browser"),
  format: "esm",
});
await emitTypes({ root, entries: doors, into: [join(dist, "esm"), join(dist, "cjs")] });

// In Node all parts are there already: their entry points have nothing to add.
for (const part of Object.keys(pageParts)) {
  for (const [folder, text] of [
    ["esm", "export {};\n"],
    ["cjs", '"use strict";\n'],
  ] as const) {
    await writeFile(join(dist, folder, `${part}.js`), text);
    await writeFile(join(dist, folder, `${part}.d.ts`), "export {};\n");
  }
}

const page = await buildDashboard({ root, into: join(dist, "dashboard") });

// Without pictures: they would be more than a third of it.
await buildSite({ root, into: join(dist, "site"), isWhole: false });

const { notices, sbom } = await thirdParty([...modules, ...page]);
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
