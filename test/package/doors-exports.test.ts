import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const dist = join(root, "dist");

/** The names that a door exports, as its users get it: by the package's name, from the build. */
function exportsOf(door: string, kind: "import" | "require"): string[] {
  const load = kind === "import" ? `await import("${door}")` : `require("${door}")`;
  const flags = kind === "import" ? ["--input-type=module"] : [];
  const code = `console.log(JSON.stringify(Object.keys(${load}).sort()))`;
  return JSON.parse(execFileSync(process.execPath, [...flags, "-e", code], { cwd: root, encoding: "utf8" }));
}

const core = ["SandboxError", "ScenarioError", "createSandbox", "guard", "openApiDocument", "outcomes"];

test.each([
  ["svc-sandbox", [...core, "parseScenario", "scenarioNames"]],
  ["svc-sandbox/msw", ["createHandlers", "handlers", "sandbox"]],
  ["svc-sandbox/node", ["loadScenario", "startServer"]],
])("%s exports these names and no others, to import and to require: %j", (door, names) => {
  expect([exportsOf(door, "import"), exportsOf(door, "require")]).toEqual([names, names]);
});

test("a process whose only call hangs stays alive until its signal ends the call", () => {
  const code = `
    import { setupServer } from "msw/node";
    import { createSandbox } from "svc-sandbox";
    import { createHandlers } from "svc-sandbox/msw";
    const sandbox = createSandbox({ scenario: "bad-day" });
    const init = () => ({ headers: { "x-api-key": sandbox.secret("hanging") }, signal: AbortSignal.timeout(20) });
    const ending = (send) => send("http://api.example/v1/relying-party/me", init()).catch(({ name }) => name);
    const own = await ending(sandbox.fetch);
    setupServer(...createHandlers(sandbox)).listen();
    console.log(own, await ending(fetch));`;
  const flags = ["--input-type=module", "-e", code];
  expect(execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" })).toBe(
    "TimeoutError TimeoutError\n",
  );
});

test("errors are instances of the classes of both builds, each of its own class alone", () => {
  const code = `
    const both = [await import("svc-sandbox"), createRequire(process.cwd() + "/x.js")("svc-sandbox")];
    const thrown = (act) => { try { act(); } catch (error) { return error; } };
    const of = (error) => both.map(({ SandboxError, ScenarioError }) =>
      [error instanceof SandboxError, error instanceof ScenarioError]);
    const refusals = both.map(({ createSandbox }) => thrown(() => createSandbox().secret("nope")));
    const broken = both.map(({ parseScenario }) => thrown(() => parseScenario("version: 2")));
    class Own extends both[0].SandboxError {}
    const own = [new Own("usage", "mine"), refusals[0]].map((error) => error instanceof Own);
    console.log(JSON.stringify({ refusals: refusals.map(of), broken: broken.map(of), others: of(new Error()), own }));`;
  const flags = ["--input-type=module", "-e", `import { createRequire } from "node:module";${code}`];
  const seen = JSON.parse(execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" }));
  const everywhere = (of: [boolean, boolean]) => [of, of];
  expect(seen).toEqual({
    refusals: everywhere([true, false]).map(() => everywhere([true, false])),
    broken: everywhere([true, true]).map(() => everywhere([true, true])),
    others: everywhere([false, false]),
    own: [true, false],
  });
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
  const page = {
    name: "page",
    resolveId: (id: string) => (id === "page" ? id : undefined),
    load: (id: string) => (id === "page" ? `export ${imports} from "./dist/esm/index.js";` : undefined),
  };
  const bundle = await rolldown({ cwd: root, input: "page", platform: "browser", plugins: [page] });
  const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false });
  await bundle.close();
  return { code: output[0].code, outside: output[0].imports };
}

// Bytes after minification and gzip. A page pays them with every load, so that growth is to be a decision: whoever
// makes it writes the new figure here.
const recorded = [
  ["all of it", "*", 122_000],
  ["createSandbox alone", "{ createSandbox }", 88_500],
] as const;
const tolerance = 1.05;

test.each(
  recorded,
)("the core door in a browser, %s %s, needs nothing of Node and weighs about %i bytes", async (_title, imports, size) => {
  const { code, outside } = await bundleForBrowser(imports);
  expect(outside).toEqual([]);
  expect(code.match(/["'`]node:|\bcreateRequire\b|\bBuffer\.|\bprocess\.(?!env\b)|\brequire\(/g)).toBeNull();
  const zipped = gzipSync(code).length;
  expect(zipped).toBeLessThan(size * tolerance);
  // A figure that is far too high guards nothing.
  expect(zipped).toBeGreaterThan(size / tolerance);
});
