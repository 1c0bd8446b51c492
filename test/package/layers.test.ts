import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";

// The rules of the house: an import points left only, a package has one layer, no cycles, and left of `node` there
// is no Node.

const root = join(import.meta.dirname, "../..");

/** The layers that each layer may import. */
const leftOf: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  scenario: ["domain"],
  synthetic: ["domain"],
  sandbox: ["domain", "scenario", "synthetic"],
  api: ["domain", "scenario", "synthetic", "sandbox"],
  report: ["domain", "scenario", "synthetic", "sandbox", "api"],
  library: ["domain", "scenario", "synthetic", "sandbox", "api", "report"],
  check: ["domain", "api", "report"],
  certify: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library"],
  // The entry point `svc-sandbox`.
  "index.ts": ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library"],
  msw: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library"],
  node: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library", "check"],
  cli: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library", "check", "certify", "node"],
  undici: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library", "node"],
  runners: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library", "node"],
  // Knows only the control plane's HTTP.
  dashboard: [],
};

/** The only layer that may import each package. */
const layerOfPackage: Readonly<Record<string, string>> = {
  yaml: "scenario",
  "@lukeed/ms": "scenario",
  "fastest-levenshtein": "scenario",
  msw: "msw",
  undici: "undici",
  vitest: "runners",
  "@playwright/test": "runners",
  express: "node",
  "prom-client": "node",
  "@redis/client": "node",
  chokidar: "node",
  "cross-spawn": "node",
  selfsigned: "node",
  commander: "cli",
  picocolors: "cli",
  "wrap-ansi": "cli",
  preact: "dashboard",
  "@preact/signals": "dashboard",
  "@codemirror": "dashboard",
  "@lezer": "dashboard",
  "d3-geo": "dashboard",
  "topojson-client": "dashboard",
  "world-atlas": "dashboard",
};

const onlyInNode = ["node", "undici", "runners", "cli"];

const layerOf = (file: string) => file.split("/")[1] as string;

/** The code of each source file, without comments. */
const sources = new Map(
  readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
    .map((file) => {
      const text = readFileSync(join(root, "src", file), "utf8");
      return [`src/${file}`, text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, "")];
    }),
);

/** What each file imports, types included: packages by their names, files by their paths. */
const imports = new Map([...sources].map(([file, code]) => [file, importsOf(file, code)]));

function importsOf(file: string, code: string): string[] {
  const named = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*["']([@\w.:/-]+)["']/g)];
  return named.map(([, name = ""]) =>
    name.startsWith(".") ? sourceAt(posix.join(posix.dirname(file), name)) : name,
  );
}

function sourceAt(path: string): string {
  return [".ts", ".tsx"].map((end) => path.replace(/\.js$/, end)).find((file) => sources.has(file)) ?? path;
}

/** Whether a file may import this. */
function isAllowed(file: string, imported: string): boolean {
  const layer = layerOf(file);
  if (imported.startsWith("src/")) {
    return layerOf(imported) === layer || leftOf[layer]?.includes(layerOf(imported)) === true;
  }
  if (imported.startsWith("node:")) return onlyInNode.includes(layer);
  const names = Object.keys(layerOfPackage);
  const name = names.find((one) => imported === one || imported.startsWith(`${one}/`));
  return name !== undefined && layerOfPackage[name] === layer;
}

/** The groups of files that import each other in a circle. */
function cycles(): string[][] {
  const reached = new Map([...imports.keys()].map((file) => [file, reachableFrom(file)]));
  const inCycle = [...reached].filter(([file, others]) => others.has(file)).map(([file]) => file);
  const groups = inCycle.map((file) =>
    inCycle.filter((one) => reached.get(file)?.has(one) && reached.get(one)?.has(file)),
  );
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

function reachableFrom(file: string): Set<string> {
  const found = new Set<string>();
  const waiting = [...(imports.get(file) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    waiting.push(...(imports.get(next) ?? []));
  }
  return found;
}

test("a file imports only what its layer may", () => {
  const offenders = [...imports].flatMap(([file, all]) =>
    all.filter((one) => !isAllowed(file, one)).map((one) => `${file} may not import ${one}`),
  );
  expect(offenders).toEqual([]);
});

test("no file imports itself by way of others, types included", () => {
  expect(cycles()).toEqual([]);
});

test("left of node, the code runs in a browser as it is", () => {
  const ofNode = /\bprocess\.|\bBuffer\.|\bBuffer\(|\b__dirname\b|\brequire\(/;
  const offenders = [...sources].filter(
    ([file, code]) => !onlyInNode.includes(layerOf(file)) && ofNode.test(code),
  );
  expect(offenders.map(([file]) => file)).toEqual([]);
});

test.each([
  ["src/domain/authorize.ts", "node:crypto"],
  ["src/scenario/schema.ts", "src/synthetic/invent.ts"],
  ["src/api/handle.ts", "src/node/platform.ts"],
  ["src/node/server.ts", "yaml"],
  ["src/node/server.ts", "undici"],
  ["src/node/server.ts", "left-pad"],
])("%s may not import %s", (file, imported) => expect(isAllowed(file, imported)).toBe(false));
