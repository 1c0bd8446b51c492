import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const dist = join(root, "dist");

/** What a program prints in a folder that has the package by its name, from the build. */
const printed = (code: string, flags = ["--input-type=module"]) =>
  execFileSync(process.execPath, [...flags, "-e", code], { cwd: root, encoding: "utf8" });

/** The names that a door exports, as its users get it: by the package's name, from the build. */
function exportsOf(door: string, kind: "import" | "require"): string[] {
  const load = kind === "import" ? `await import("${door}")` : `require("${door}")`;
  const flags = kind === "import" ? ["--input-type=module"] : [];
  return JSON.parse(printed(`console.log(JSON.stringify(Object.keys(${load}).sort()))`, flags));
}

const core = ["SandboxError", "ScenarioError", "createSandbox", "openApiDocument", "outcomes"];

test.each([
  ["svc-sandbox", [...core, "parseScenario", "scenarioNames"]],
  ["svc-sandbox/msw", ["createHandlers", "handlers", "sandbox"]],
  ["svc-sandbox/node", ["loadScenario", "setPackageReader", "startServer"]],
  ["svc-sandbox/farmers", []],
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
    const server = setupServer(...createHandlers(sandbox));
    server.listen();
    console.log(own, await ending(fetch));
    server.close();`;
  expect(printed(code)).toBe("TimeoutError TimeoutError\n");
});

test("errors are instances of the classes of both builds, each only of its own class", () => {
  const code = `
    const both = [await import("svc-sandbox"), createRequire(process.cwd() + "/x.js")("svc-sandbox")];
    const thrown = (act) => { try { act(); } catch (error) { return error; } };
    const of = (error) => both.map(({ SandboxError, ScenarioError }) =>
      [error instanceof SandboxError, error instanceof ScenarioError]);
    const rejections = both.map(({ createSandbox }) => thrown(() => createSandbox().secret("nope")));
    const broken = both.map(({ parseScenario }) => thrown(() => parseScenario("version: 2")));
    class Own extends both[0].SandboxError {}
    const own = [new Own("usage", "mine"), rejections[0]].map((error) => error instanceof Own);
    console.log(JSON.stringify({ rejections: rejections.map(of), broken: broken.map(of), others: of(new Error()), own }));`;
  const seen = JSON.parse(printed(`import { createRequire } from "node:module";${code}`));
  const everywhere = (of: [boolean, boolean]) => [of, of];
  expect(seen).toEqual({
    rejections: everywhere([true, false]).map(() => everywhere([true, false])),
    broken: everywhere([true, true]).map(() => everywhere([true, true])),
    others: everywhere([false, false]),
    own: [true, false],
  });
});

test("an error that nobody caught is printed with the name of its class, its message and a stack", () => {
  const code = `
    const builds = [await import("svc-sandbox"), createRequire(process.cwd() + "/x.js")("svc-sandbox")];
    const thrown = (act) => { try { act(); } catch (error) { return [error.name, error.constructor.name, ...inspect(error).split("\\n")]; } };
    console.log(JSON.stringify(builds.map(({ createSandbox, parseScenario, SandboxError, ScenarioError }) => [
      thrown(() => createSandbox().secret("nope")), thrown(() => parseScenario("version: 2")), SandboxError.name, ScenarioError.name])));`;
  const imports = 'import { createRequire } from "node:module"; import { inspect } from "node:util";';
  for (const [rejected, broken, ...names] of JSON.parse(printed(imports + code))) {
    expect(names).toEqual(["SandboxError", "ScenarioError"]);
    expect(rejected.slice(0, 3)).toEqual([
      "SandboxError",
      "SandboxError",
      expect.stringMatching(/^SandboxError: Unknown key/),
    ]);
    expect(broken.slice(0, 2)).toEqual(["ScenarioError", "ScenarioError"]);
    expect(
      [rejected, broken].map((lines) => lines.some((line: string) => /^ {4}at .*:\d+:\d+/.test(line))),
    ).toEqual([true, true]);
  }
});

test("each build takes the sandboxes of the other, in every entry point", () => {
  const code = `
    const require = createRequire(process.cwd() + "/x.js");
    const all = ["", "/msw", "/node"].map((name) => "svc-sandbox" + name);
    const builds = [Object.assign({}, ...(await Promise.all(all.map((name) => import(name))))),
      Object.assign({}, ...all.map(require))];
    const statuses = builds.map(async ({ createSandbox }, index) => {
      const { createHandlers, startServer } = builds[1 - index];
      const sandbox = createSandbox();
      const request = new Request("http://any.example/v1/relying-party/me", { headers: { "x-api-key": sandbox.secret("revoked") } });
      const server = await startServer();
      const headers = { "x-api-key": server.sandbox.secret("revoked") };
      const served = await fetch(server.url + "/v1/relying-party/me", { headers });
      await server.close();
      return { msw: (await getResponse(createHandlers(sandbox), request.clone())).status, server: served.status };
    });
    console.log(JSON.stringify(await Promise.all(statuses)));`;
  const imports = 'import { createRequire } from "node:module"; import { getResponse } from "msw";';
  const seen = JSON.parse(printed(imports + code));
  expect(seen).toEqual(Array(2).fill({ msw: 401, server: 401 }));
});

test("faker is in no bundle: it gives its names when the package is built", () => {
  // The pages of the docs name it.
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".js") && !file.startsWith("site"),
  );
  expect(files).toContain("esm/index.js");
  expect(files.filter((file) => /faker/i.test(readFileSync(join(dist, file), "utf8")))).toEqual([]);
});

/** The text of an entry point of the ES modules and of every file that it imports. */
function textOf(file: string, found = new Map<string, string>()): string {
  const text = readFileSync(join(dist, "esm", file), "utf8");
  found.set(file, text);
  for (const [, next = ""] of text.matchAll(/\b(?:from|import) "\.\/([\w-]+\.js)"/g)) {
    if (!found.has(next)) textOf(next, found);
  }
  return [...found.values()].join("\n");
}

test.each([
  ["index", []],
  ["node", []],
  ["msw", ["msw"]],
  ["vitest", ["vitest"]],
])("svc-sandbox/%s loads %j of the user's packages", (entry, packages) => {
  const text = textOf(`${entry}.js`);
  const imported = [...text.matchAll(/\bfrom "(?!\.\/|node:)([^"]*)";/g)].map(([, name]) => name);
  expect([...new Set(imported)]).toEqual(packages);
  expect(text).not.toMatch(/\bimport\("(?:msw|vitest)"\)/);
});

test("pages get no package of the user but msw, which they import themselves", () => {
  const files = readdirSync(join(dist, "browser")).map((file) =>
    readFileSync(join(dist, "browser", file), "utf8"),
  );
  expect(files.filter((text) => /"vitest"|duplexPair/.test(text))).toEqual([]);
  expect(files.filter((text) => text.includes('from"msw"')).length).toBe(1);
});

/** The code that a bundler puts into a page, which gets the package by its name. */
async function bundleForBrowser(page: string): Promise<{ code: string; outside: readonly string[] }> {
  const file = join(root, "page.js");
  const plugin = {
    name: "page",
    resolveId: (id: string) => (id === file ? id : undefined),
    load: (id: string) => (id === file ? page : undefined),
  };
  const bundle = await rolldown({ cwd: root, input: file, platform: "browser", plugins: [plugin] });
  const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false });
  await bundle.close();
  return { code: output[0].code, outside: output[0].imports };
}

const createAlone = 'export { createSandbox } from "svc-sandbox";';

// Bytes after minification and gzip, which a page pays with every load.
const limits = [
  ["all of it", 'export * from "svc-sandbox";', 98_000],
  ["createSandbox alone", createAlone, 63_000],
  ["createSandbox with farmers", `import "svc-sandbox/farmers"; ${createAlone}`, 79_000],
] as const;

test.each(limits)(
  "in a browser, %s needs nothing of Node: %s, at most %i bytes",
  async (_one, page, limit) => {
    const { code, outside } = await bundleForBrowser(page);
    expect(outside).toEqual([]);
    expect(
      code.match(/["'`]node:|\bcreateRequire\b|\bBuffer\.|\bprocess\.(?!env\b)|\brequire\(/g),
    ).toBeNull();
    const zipped = gzipSync(code).length;
    expect(zipped).toBeLessThanOrEqual(limit);
    // A limit that is far too high guards nothing.
    expect(zipped).toBeGreaterThan(limit * 0.94);
  },
);

/** What a page of these imports prints, run as a bundler leaves it. */
async function runAsPage(imports: string, code: string): Promise<unknown> {
  const page = await bundleForBrowser(`${imports} import { createSandbox } from "svc-sandbox"; ${code}`);
  const flags = ["--input-type=module", "-"];
  return JSON.parse(execFileSync(process.execPath, flags, { input: page.code, encoding: "utf8" }));
}

test("the fixtures of Vitest in a page end with what to use there", async () => {
  const { code } = await bundleForBrowser(
    `import { test } from "svc-sandbox/vitest"; test("one", () => {});`,
  );
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-"], {
    input: code,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("this test runs in a browser: use createSandbox"),
  ]);
});

const useOfFarmers = `
  const rejections = [];
  const trying = (act) => { try { return act(); } catch (error) { rejections.push([error.code, error.message]); } };
  const plain = createSandbox({ now: "2026-03-02T09:00:00Z", frozen: true });
  const farmer = trying(() => plain.farmers.at(7));
  console.log(JSON.stringify({ rejections, farmer, count: plain.farmers.count }));`;

test("farmers are in a page that imports them, and rejected in another", async () => {
  const whole = JSON.parse(printed(`import { createSandbox } from "svc-sandbox"; ${useOfFarmers}`));
  expect(whole.rejections).toEqual([]);
  expect(await runAsPage('import "svc-sandbox/farmers";', useOfFarmers)).toEqual(whole);
  const rejection = ["usage", expect.stringContaining('import "svc-sandbox/farmers"')];
  const alone = await runAsPage("", useOfFarmers);
  expect(alone).toEqual({ ...whole, farmer: undefined, rejections: [rejection] });
});
