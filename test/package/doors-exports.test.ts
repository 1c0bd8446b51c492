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
  ["svc-sandbox/undici", ["createDispatcher"]],
  ["svc-sandbox/playwright", ["expect", "test"]],
  ["svc-sandbox/capture", []],
  ["svc-sandbox/farmers", []],
  ["svc-sandbox/preview", []],
])("%s exports these names and no others, to import and to require: %j", (door, names) => {
  expect([exportsOf(door, "import"), exportsOf(door, "require")]).toEqual([names, names]);
});

test("a process whose only call hangs stays alive until its signal ends the call", () => {
  const code = `
    import { setupServer } from "msw/node";
    import { createSandbox } from "svc-sandbox";
    import { createHandlers } from "svc-sandbox/msw";
    import { createDispatcher } from "svc-sandbox/undici";
    import { request, setGlobalDispatcher } from "undici";
    const sandbox = createSandbox({ scenario: "bad-day" });
    const init = () => ({ headers: { "x-api-key": sandbox.secret("hanging") }, signal: AbortSignal.timeout(20) });
    const ending = (send) => send("http://api.example/v1/relying-party/me", init()).catch(({ name }) => name);
    const own = await ending(sandbox.fetch);
    const server = setupServer(...createHandlers(sandbox));
    server.listen();
    console.log(own, await ending(fetch));
    server.close();
    setGlobalDispatcher(createDispatcher(sandbox));
    console.log(await ending(request), await ending(fetch));`;
  const flags = ["--input-type=module", "-e", code];
  expect(execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" })).toBe(
    "TimeoutError TimeoutError\nTimeoutError TimeoutError\n",
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

test("a process has one copy of the library, whichever way it comes to it, and late parts share it", () => {
  const code = `
    const require = createRequire(process.cwd() + "/x.js");
    const [esm, cjs] = [await import("svc-sandbox"), require("svc-sandbox")];
    const { sandbox } = await import("svc-sandbox/msw");
    const { startServer } = await import("svc-sandbox/node");
    const same = [...Object.keys(esm).map((name) => esm[name] === cjs[name]),
      startServer === require("svc-sandbox/node").startServer];
    // What a late part throws is of the class that was there before it.
    const refusals = [() => esm.createSandbox({ seed: -1 }), () => esm.createSandbox({ scenario: {} }),
      () => esm.parseScenario("a: ["), () => sandbox.keys.revoke("nope"), () => sandbox.consents.list()];
    const classes = refusals.map((act) => { try { act(); } catch (error) {
      return Object.getPrototypeOf(error) === esm.SandboxError.prototype || Object.getPrototypeOf(error) === esm.ScenarioError.prototype; } });
    console.log(JSON.stringify({ same, classes }));`;
  const flags = ["--input-type=module", "-e", `import { createRequire } from "node:module";${code}`];
  const { same, classes } = JSON.parse(
    execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" }),
  );
  expect(same).toEqual(Array(9).fill(true));
  expect(classes).toEqual(Array(5).fill(true));
});

test("faker is in no bundle: it gives its names when the package is built", () => {
  // The pages of the docs name it.
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".js") && !file.startsWith("site"),
  );
  expect(files).toContain("esm/index.js");
  expect(files.filter((file) => /faker/i.test(readFileSync(join(dist, file), "utf8")))).toEqual([]);
});

/** The files that an entry point of the ES modules needs before it runs, itself among them, and the packages. */
function neededBy(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  if (!file.startsWith("./")) return found;
  const text = readFileSync(join(dist, "esm", file), "utf8");
  for (const [, next] of text.matchAll(/\b(?:from|import\(?)["`]([^"`]+)["`]/g))
    neededBy(next as string, found);
  return found;
}

const packagesOf = (door: string) =>
  [...neededBy(`./${door}.js`)].filter((name) => !/^(?:\.\/|\.\.\/cjs\/|node:)/.test(name));

test.each([
  ["undici", "undici", 1280],
  ["vitest", "vitest", 950],
  ["playwright", "@playwright/test", 1760],
])("svc-sandbox/%s asks for %s alone, and has about %i bytes of its own", (door, name, size) => {
  expect(packagesOf(door)).toEqual([name]);
  const { length } = readFileSync(join(dist, `esm/${door}.js`));
  expect([length < size * 1.1, length > size / 1.1]).toEqual([true, true]);
});

test("the other entry points ask for none of these packages", () => {
  expect(["index", "node", "msw"].map(packagesOf)).toEqual([[], [], ["msw"]]);
  const browser = readdirSync(join(dist, "browser")).map((file) =>
    readFileSync(join(dist, "browser", file), "utf8"),
  );
  expect(browser.filter((text) => /"(?:undici|vitest|@playwright\/test)"|duplexPair/.test(text))).toEqual([]);
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

// Bytes after minification and gzip. A page pays them with every load, so that growth is to be a decision: whoever
// makes it writes the new figure here.
const recorded = [
  ["all of it", 'export * from "svc-sandbox";', 92_700],
  ["createSandbox alone", createAlone, 59_400],
  ["createSandbox with farmers", `import "svc-sandbox/farmers"; ${createAlone}`, 80_100],
  ["createSandbox with the preview", `import "svc-sandbox/preview"; ${createAlone}`, 86_800],
] as const;
const tolerance = 1.03;

test.each(
  recorded,
)("in a browser, %s needs nothing of Node: %s, about %i bytes", async (_title, page, size) => {
  const { code, outside } = await bundleForBrowser(page);
  expect(outside).toEqual([]);
  expect(code.match(/["'`]node:|\bcreateRequire\b|\bBuffer\.|\bprocess\.(?!env\b)|\brequire\(/g)).toBeNull();
  const zipped = gzipSync(code).length;
  expect(zipped).toBeLessThan(size * tolerance);
  // A figure that is far too high guards nothing.
  expect(zipped).toBeGreaterThan(size / tolerance);
});

/** What a page of these imports prints, run as a bundler leaves it. */
async function runAsPage(imports: string, code: string): Promise<unknown> {
  const page = await bundleForBrowser(`${imports} import { createSandbox } from "svc-sandbox"; ${code}`);
  const flags = ["--input-type=module", "-"];
  return JSON.parse(execFileSync(process.execPath, flags, { input: page.code, encoding: "utf8" }));
}

const useOfParts = `
  const refusals = [];
  const trying = (act) => { try { return act(); } catch (error) { refusals.push([error.code, error.message]); } };
  const plain = createSandbox({ now: "2026-03-02T09:00:00Z", frozen: true });
  const farmer = trying(() => plain.farmers.at(7));
  const sandbox = trying(() => createSandbox({ scenario: "announced-endpoints", frozen: true }));
  const headers = sandbox && { "x-api-key": sandbox.secret("lending"), "content-type": "application/json" };
  const send = async (path, init) => (await sandbox.fetch("http://any.example/v1/relying-party" + path, { headers, ...init })).json();
  const body = sandbox && JSON.stringify({ farmer_id: sandbox.farmers.at(0).farmer_id,
    purpose: { code: "monitoring", text: "To see." }, permissions: ["livestock"] });
  const asked = sandbox && await send("/consent-requests", { method: "POST", body });
  sandbox?.clock.advance("2d");
  const list = sandbox && await send("/attestations");
  const howTo = plain.report().paths.map(({ pathId, howToMeet }) => [pathId, howToMeet]);
  console.log(JSON.stringify({ refusals, farmer, asked, list, howTo, count: plain.farmers.count,
    left: sandbox && [sandbox.snapshot().consents, sandbox.attestations.list()] }));`;

test("capture is in a page that imports it, the same as in Node, and refused in another one", async () => {
  const use = `
    const sandbox = createSandbox({ now: "2026-03-02T09:00:00Z", frozen: true });
    await sandbox.fetch("http://any.example/v1/relying-party/me");
    try { console.log(JSON.stringify(sandbox.capture())); } catch ({ code, message }) { console.log(JSON.stringify({ code, message })); }`;
  const program = `import { createSandbox } from "svc-sandbox"; ${use}`;
  const flags = ["--input-type=module", "-e", program];
  const whole = JSON.parse(execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" }));
  expect(whole.story).toMatchObject([{ request: { key: "none" }, expect: { path: "401.missing" } }]);
  expect(await runAsPage('import "svc-sandbox/capture";', use)).toEqual(whole);
  const message = expect.stringContaining('import "svc-sandbox/capture"');
  expect(await runAsPage("", use)).toEqual({ code: "usage", message });
});

test("farmers and the preview are in a page that imports them, the same as in Node, and refused in another one", async () => {
  const program = `import { createSandbox } from "svc-sandbox"; ${useOfParts}`;
  const flags = ["--input-type=module", "-e", program];
  const whole = JSON.parse(execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" }));
  expect(whole).toMatchObject({
    refusals: [],
    asked: { data: { status: "pending" } },
    list: { page: { total: 2 } },
  });
  expect(await runAsPage('import "svc-sandbox/preview";', useOfParts)).toEqual(whole);

  const refusal = (name: string) => ["usage", expect.stringContaining(`import "svc-sandbox/${name}"`)];
  const { farmer, count, howTo } = whole;
  const withFarmers = await runAsPage('import "svc-sandbox/farmers";', useOfParts);
  expect(withFarmers).toEqual({ refusals: [refusal("preview")], farmer, count, howTo: expect.any(Array) });
  const alone = (await runAsPage("", useOfParts)) as typeof whole;
  expect(alone).toEqual({
    refusals: [refusal("farmers"), refusal("preview")],
    count,
    howTo: expect.any(Array),
  });
  // It cannot look into a world with the preview for how to meet the paths that only such a world has.
  const ofPreview = [
    "400.bad_request",
    "404.unknown_record",
    "409.conflict",
    "422.validation",
    "422.idempotency_key",
  ];
  const isKnown = ([pathId]: [string]) => !ofPreview.includes(pathId);
  expect(alone.howTo.filter(isKnown)).toEqual(howTo.filter(isKnown));
});

test("the imports of parts do nothing where all of it is there, with every condition that a test runner sets in Node", () => {
  const code = `import "svc-sandbox/farmers"; import "svc-sandbox/preview"; import { createSandbox } from "svc-sandbox";
    console.log(createSandbox({ scenario: "announced-endpoints" }).farmers.at(0).synthetic);`;
  const cjs = code
    .replaceAll(/import ("[^"]+");/g, "require($1);")
    .replace(/import (.+) from (.+);/, "const $1 = require($2);");
  for (const conditions of [[], ["--conditions=browser"]]) {
    for (const program of [
      ["--input-type=module", "-e", code],
      ["-e", cjs],
    ]) {
      const flags = [...conditions, ...program];
      expect(execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" })).toBe("true\n");
    }
  }
});
