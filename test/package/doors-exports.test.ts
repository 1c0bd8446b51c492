import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const dist = join(root, "dist");

/** The names that a door exports, as its users get it: by the package's name, from the build. */
function exportsOf(door: string, kind: "import" | "require"): string[] {
  const load = kind === "import" ? `await import("${door}")` : `require("${door}")`;
  const flags = kind === "import" ? ["--input-type=module"] : [];
  const code = `console.log(JSON.stringify(Object.keys(${load}).sort()))`;
  return JSON.parse(
    execFileSync(process.execPath, [...flags, "-e", code], { cwd: root, encoding: "utf8" }),
  ) as string[];
}

test("svc-sandbox exports these names, and no others", () => {
  expect(exportsOf("svc-sandbox", "import")).toMatchInlineSnapshot(`
    [
      "SandboxError",
      "ScenarioError",
      "createSandbox",
      "guard",
      "openApiDocument",
      "outcomes",
      "parseScenario",
      "scenarioNames",
    ]
  `);
});

test("svc-sandbox/msw exports these names, and no others", () => {
  expect(exportsOf("svc-sandbox/msw", "import")).toMatchInlineSnapshot(`
    [
      "createHandlers",
      "handlers",
      "sandbox",
    ]
  `);
});

test("svc-sandbox/node exports these names, and no others", () => {
  expect(exportsOf("svc-sandbox/node", "import")).toMatchInlineSnapshot(`
    [
      "loadScenario",
      "startServer",
    ]
  `);
});

test.each([
  "svc-sandbox",
  "svc-sandbox/msw",
  "svc-sandbox/node",
])("%s exports the same to require", (door) => {
  expect(exportsOf(door, "require")).toEqual(exportsOf(door, "import"));
});

test("faker is in no bundle: it gives its names when the package is built", () => {
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  );
  expect(files).toContain("esm/index.js");
  expect(files.filter((file) => /faker/i.test(readFileSync(join(dist, file), "utf8")))).toEqual([]);
});

/** The code that a bundler puts into a page for these imports of the built core door. */
async function bundleForBrowser(imports: string): Promise<{ code: string; outside: readonly string[] }> {
  const bundle = await rolldown({
    cwd: root,
    input: "page",
    platform: "browser",
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === "page" ? id : undefined),
        load: (id) => (id === "page" ? `export ${imports} from "./dist/esm/index.js";` : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false });
  await bundle.close();
  return { code: output[0].code, outside: output[0].imports };
}

// Bytes after minification and gzip. A page pays them with every load, so that growth is to be a decision: whoever
// makes it writes the new figure here.
const recorded = [
  ["all of it", "*", 119_000],
  ["createSandbox alone", "{ createSandbox }", 85_000],
] as const;
const tolerance = 1.15;

describe.each(recorded)("the core door in a browser: %s", (_title, imports, recordedSize) => {
  test("needs nothing of Node", async () => {
    const { code, outside } = await bundleForBrowser(imports);
    expect(outside).toEqual([]);
    expect(
      code.match(/["'`]node:|\bcreateRequire\b|\bBuffer\.|\bprocess\.(?!env\b)|\brequire\(/g),
    ).toBeNull();
  });

  test(`is no more than 15 % larger than ${recordedSize} bytes`, async ({ annotate }) => {
    const { code } = await bundleForBrowser(imports);
    const size = gzipSync(code).length;
    await annotate(`${code.length} bytes minified, ${size} after gzip`);
    expect(size).toBeLessThan(recordedSize * tolerance);
    // A figure that is far too high guards nothing.
    expect(size).toBeGreaterThan(recordedSize / tolerance);
  });
});
