import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";

// What a start reads before it serves a bundled scenario, in the build. An import too many in a file that every start
// needs brings a large package in with it, and nothing else would say so.

const folder = join(import.meta.dirname, "../../dist/cjs");
const files = readdirSync(folder);
const textOf = (file: string) => readFileSync(join(folder, file), "utf8");
const start = files.find((one) => /^start-[\w-]+\.js$/.test(one) && textOf(one).includes("listen")) as string;

/** The files that this one needs before it runs, itself among them. */
function needed(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, next] of textOf(file).matchAll(/(?<!=> |\?\?= )\brequire\("\.\/([^"]+)"\)/g))
    needed(next as string, found);
  return found;
}

const loaded = [...needed("cli.js"), ...needed(start)].map((file) => [file, textOf(file)] as const);

test.each([
  ["the checks of scenarios", /sort the steps by time/],
  ["the YAML reader", /YAMLParseError/],
  ["the tables of farmers", /c_1938/],
  ["Express", /x-powered-by/],
])("a start does not load %s", (_what, sign) => {
  expect(files.some((file) => file.endsWith(".js") && sign.test(textOf(file)))).toBe(true);
  expect(loaded.filter(([, text]) => sign.test(text)).map(([file]) => file)).toEqual([]);
});

test.each([
  ["index", []],
  ["msw", []],
  ["node", ["server"]],
])("svc-sandbox/%s needs nothing of the command line, and of the server %j", (entry, more) => {
  const code = `require(${JSON.stringify(join(folder, entry))}); console.log(Object.keys(require.cache).join("\\n"))`;
  const read = execFileSync(process.execPath, ["-e", code], { encoding: "utf8" });
  const chunks = read.split("\n").map((file) => basename(file).replace(/-[\w-]{8}\.js$/, ""));
  expect(chunks).toContain("core");
  expect(chunks.filter((name) => ["server", "start"].includes(name))).toEqual(more);
  expect(chunks.filter((name) => ["farmers", "checks"].includes(name))).toEqual([]);
});

test("Node's code contains no part of the dashboard's page", () => {
  const dashboard = join(folder, "../dashboard/assets");
  const sign = /createElementNS/;
  const scripts = readdirSync(dashboard).filter((file) => file.endsWith(".js.br"));
  const read = (file: string) => String(brotliDecompressSync(readFileSync(join(dashboard, file))));
  expect(scripts.some((file) => sign.test(read(file)))).toBe(true);
  expect(files.filter((file) => sign.test(textOf(file)))).toEqual([]);
});
