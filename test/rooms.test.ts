import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";

// The one rule of the house: an import points left only, and each third-party package has exactly one room.
const leftOf: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  scenario: ["domain"],
  synthetic: ["domain"],
  sandbox: ["domain", "scenario", "synthetic"],
  api: ["domain", "scenario", "synthetic", "sandbox"],
  report: ["domain", "scenario", "synthetic", "sandbox", "api"],
  library: ["domain", "scenario", "synthetic", "sandbox", "api", "report"],
  check: ["domain", "api", "report"],
  // The door `svc-sandbox`.
  "index.ts": ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library"],
  msw: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library"],
  node: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library", "check"],
  cli: ["domain", "scenario", "synthetic", "sandbox", "api", "report", "library", "check", "node"],
};

const roomOfPackage: Readonly<Record<string, string>> = {
  yaml: "scenario",
  "zod/mini": "scenario",
  ms: "scenario",
  "fastest-levenshtein": "scenario",
  "@noble/hashes": "library",
  msw: "msw",
  express: "node",
  pino: "node",
  chokidar: "node",
  selfsigned: "node",
  commander: "cli",
  picocolors: "cli",
};

const roomsOfNode = ["node", "cli"];

/** Why the file may not import this, or `undefined` when it may. */
function objection(file: string, imported: string): string | undefined {
  const room = file.split("/")[1] as string;
  const refuse = `${file}: room "${room}" may not import "${imported}"`;
  if (imported.startsWith("node:")) return roomsOfNode.includes(room) ? undefined : refuse;
  if (imported.startsWith(".")) {
    const target = posix.join(posix.dirname(file), imported).split("/")[1] as string;
    return target === room || leftOf[room]?.includes(target) ? undefined : refuse;
  }
  const home = Object.entries(roomOfPackage).find(
    ([name]) => imported === name || imported.startsWith(`${name}/`),
  )?.[1];
  return home === room ? undefined : refuse;
}

const root = join(import.meta.dirname, "..");
const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => `src/${file}`);

/** The file's text without its comments. */
function codeOf(file: string): string {
  return readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, "");
}

test.each(files)("%s imports only what its room may", (file) => {
  const imported = [...codeOf(file).matchAll(/(?:\bfrom|\bimport\()\s*["']([@\w.:/-]+)["']/g)].map(
    (match) => match[1] as string,
  );
  expect(imported.map((one) => objection(file, one)).filter((one) => one !== undefined)).toEqual([]);
});

test.each(
  files.filter((file) => !roomsOfNode.includes(file.split("/")[1] as string)),
)("%s runs in a browser as it is", (file) => {
  expect(codeOf(file).match(/\bprocess\.|\bBuffer\.|\bBuffer\(|\b__dirname\b|\brequire\(/)).toBeNull();
});

test("the rule is one that can be broken", () => {
  expect(objection("src/domain/authorize.ts", "node:crypto")).toBe(
    'src/domain/authorize.ts: room "domain" may not import "node:crypto"',
  );
  expect(objection("src/scenario/schema.ts", "../synthetic/invent.js")).toMatch("may not import");
  expect(objection("src/api/handle.ts", "../node/platform.js")).toMatch("may not import");
  expect(objection("src/node/x.ts", "yaml")).toMatch("may not import");
  expect(objection("src/node/control/app.ts", "../../api/handle.js")).toBeUndefined();
});
