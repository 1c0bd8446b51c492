import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The built files that a start reads before its first response. Each costs time in every process, and each test worker.

/** Why a start may read each of them. */
const reasons = {
  core: "what commands and createSandbox import: the rules, the states and the responses",
  library: "createSandbox, the reader of YAML, and its checks",
  server: "the sockets",
  command: "what only commands import: the server, and what start, exec and keys do",
  "start-server": "startServer and loadScenario",
};

type Chunk = keyof typeof reasons;

const command: readonly Chunk[] = ["core", "command"];
const yaml = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";

/** Writes the files that a process has required when it ends, and each segmenter that it has made, as one: V8 loads its tables in 20 ms. */
const hook = `const { writeFileSync } = require("node:fs");
const made = [];
Intl.Segmenter = class extends Intl.Segmenter {
  constructor(...options) {
    super(...options);
    made.push("/dist/Intl.Segmenter");
  }
};
process.on("exit", () => {
  writeFileSync(process.env.REQUIRED, [...Object.keys(require.cache), ...made].join("\\n"));
});`;

function watching() {
  const folder = temporaryFolder({ "hook.cjs": hook, "my.yaml": yaml });
  const file = join(folder, "required");
  const env = { REQUIRED: file, NODE_OPTIONS: `--require "${join(folder, "hook.cjs")}"` };
  return {
    folder,
    env,
    files: () =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((name) => name.includes("/dist/")),
  };
}

async function startedWith(...argv: string[]): Promise<string[]> {
  const { folder, env, files } = watching();
  const running = startBin(argv, { cwd: folder, env });
  if (argv[0] === "start") {
    const line = await running.until(/^\{.*\}$/m);
    const { base_url, keys } = JSON.parse(line);
    const [key = ""] = Object.values<string>(keys);
    const response = await fetch(`${base_url}/v1/relying-party/me`, { headers: { "x-api-key": key } });
    expect(response.status).toBe(200);
    running.child.kill("SIGTERM");
  }
  await running.ended;
  return files();
}

/** What would slow down every start of a bundled scenario, by a sign of it. */
const heavy = {
  checks: /the scenario has no organization/,
  yaml: /YAMLParseError/,
  express: /x-powered-by/,
};

function required(name: string): string[] {
  const { env, files } = watching();
  execFileSync(process.execPath, ["-e", `require("${name}")`], {
    cwd: root,
    env: { ...process.env, ...env },
  });
  return files();
}

/** The files that a module imports before it runs, itself among them. */
function imported(file: string, files = new Set<string>()): string[] {
  if (files.has(file) || !existsSync(file)) return [...files];
  files.add(file);
  for (const [, next = ""] of readFileSync(file, "utf8").matchAll(
    /^(?:im|ex)port\b[^;]*?"(\.\/[^"]+)";$/gm,
  )) {
    imported(join(dirname(file), next), files);
  }
  return [...files];
}

const chunkOf = (file: string) => basename(file, ".js").replace(/-[\w-]{8}$/, "");
// The entry points themselves, and the bundler's own functions.
const without = ["cli", "index", "msw", "node", "rolldown-runtime"];

const served = ["--port", "0", "--json", "--log", "off"];
test.each<[string, readonly Chunk[], () => Promise<string[]> | string[]]>([
  ["start", command, () => startedWith("start", "key-states", ...served)],
  ["start my.yaml", [...command, "library"], () => startedWith("start", "my.yaml", ...served)],
  ["exec -- true", command, () => startedWith("exec", "--", "true")],
  ["keys", command, () => startedWith("keys", "key-states")],
  ['require("svc-sandbox")', ["core", "library"], () => required("svc-sandbox")],
  [
    'require("svc-sandbox/node")',
    ["core", "library", "command", "start-server"],
    () => required("svc-sandbox/node"),
  ],
  ['require("svc-sandbox/msw")', ["core", "library"], () => required("svc-sandbox/msw")],
  ['import "svc-sandbox"', ["library"], () => imported(join(root, "dist/esm/index.js"))],
  ['import "svc-sandbox/msw"', ["library"], () => imported(join(root, "dist/esm/msw.js"))],
])("%s reads only the chunks of its list, without a slow literal", async (_name, list, read) => {
  const files = await read();
  const chunks = new Set(files.map(chunkOf).filter((name) => !without.includes(name)));
  expect([...chunks].sort()).toEqual([...list].sort());
  for (const file of files) expect([file, slowInFile(file)]).toEqual([file, []]);
  const early = list.includes("library") ? [] : files;
  for (const [what, sign] of Object.entries(heavy)) {
    expect([what, early.filter((file) => sign.test(readFileSync(file, "utf8")))]).toEqual([what, []]);
  }
});

test("what a start does not load, nor any code for Node, is found by its sign in the build", () => {
  const dist = join(root, "dist/cjs");
  const texts = readdirSync(dist).map((file) => readFileSync(join(dist, file), "utf8"));
  for (const [what, sign] of Object.entries(heavy)) {
    expect([what, texts.some((text) => sign.test(text))]).toEqual([what, true]);
  }
  const ofPage = /createElementNS/;
  const assets = join(root, "dist/dashboard/assets");
  const scripts = readdirSync(assets).filter((file) => file.endsWith(".js.br"));
  const read = (file: string) => String(brotliDecompressSync(readFileSync(join(assets, file))));
  expect(scripts.some((file) => ofPage.test(read(file)))).toBe(true);
  expect(texts.filter((text) => ofPage.test(text))).toEqual([]);
});

/** What is slow in each file that a start has read: most starts read the same ones. */
const slowInFiles = new Map<string, string[]>();

function slowInFile(file: string): string[] {
  const slow = slowInFiles.get(file) ?? slowIn(readFileSync(file, "utf8"));
  slowInFiles.set(file, slow);
  return slow;
}

/** What makes V8 load tables of Unicode when it parses or first uses it. */
function slowIn(code: string): string[] {
  const slow: string[] = [];
  walk(parseAst(code), (node) => {
    const { regex, raw = "" } = node;
    if (regex?.flags.includes("v") || (regex !== undefined && raw.includes("\\p{"))) slow.push(raw);
  });
  return code.includes("RGI_Emoji") ? [...slow, "RGI_Emoji"] : slow;
}

interface SyntaxNode {
  readonly raw?: string;
  readonly regex?: { readonly flags: string };
}

function walk(value: unknown, visit: (node: SyntaxNode) => void): void {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value) visit(value as SyntaxNode);
  for (const child of Object.values(value)) walk(child, visit);
}

test.each([
  ["const a = /^[a]$/v;", ["/^[a]$/v"]],
  ["const a = () => /\\p{L}/u;", ["/\\p{L}/u"]],
  ["const a = /v/u, b = c / v / d;", []],
])("%s is found as %j", (code, slow) => expect(slowIn(code)).toEqual(slow));
