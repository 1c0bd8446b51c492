import { readFile } from "node:fs/promises";
import { mustRun, root } from "./run-program.js";
import { createTally } from "./tally.js";

// Looks for known weaknesses of the bundled packages, which scanners do not see; a registry without a list does not fail.

type Weakness = Readonly<{ severity: string; title: string; url: string }>;

const { components } = JSON.parse(await readFile(`${root}/dist/sbom.cdx.json`, "utf8"));
const versions: Record<string, string[]> = {};
for (const { name, version } of components) versions[name] = [...(versions[name] ?? []), version];

const tally = createTally("audit");
const registry = await mustRun("npm", ["config", "get", "registry"]);
const response = await fetch(new URL("-/npm/v1/security/advisories/bulk", registry), {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(versions),
  signal: AbortSignal.timeout(60_000),
}).catch((error: Error) => error);
if (response instanceof Error || !response.ok) {
  const why = response instanceof Error ? response.message : `it responds with ${response.status}`;
  tally.skip("bundled packages", `${registry} lists no weaknesses: ${why}`);
} else {
  const found = (await response.json()) as Readonly<Record<string, readonly Weakness[]>>;
  const lines = Object.entries(found).flatMap(([name, all]) =>
    all.map(({ severity, title, url }) => `${name} ${versions[name]}: ${severity}, ${title} (${url})`),
  );
  tally.count(`${components.length} bundled packages`, lines.join("\n") || undefined);
}
