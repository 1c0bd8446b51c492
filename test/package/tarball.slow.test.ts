import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { gzipSync } from "node:zlib";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { emitTypes } from "../../scripts/bundle.js";
import { install } from "../../scripts/install.js";
import { type Packed, packProject } from "../../scripts/pack.js";
import { runProgram } from "../../scripts/run-program.js";

// What partners get: the tarball, and what becomes of it once it is installed.

const root = join(import.meta.dirname, "../..");
const project = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

let folder: string;
let installed: string;
let packed: Packed;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-sandbox-package-"));
  packed = await packProject(folder);
  await install(join(folder, "user"), [packed.tarball]);
  installed = join(folder, "user/node_modules/svc-sandbox");
  // A second user has msw and the types of Node beside it.
  await install(join(folder, "beside"), [packed.tarball]);
  mkdirSync(join(folder, "beside/node_modules/@types"));
  for (const name of ["msw", "vitest", "@types/node"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "beside/node_modules", name));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the build of the image gets each file of the package", () => {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const allowed = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
  const sources = files.filter((name: string) => name !== "dist" && !name.startsWith("!"));
  expect(sources.filter((name: string) => !allowed.includes(`!${name}`))).toEqual([]);
});

test("the declarations are the same when another folder builds them", async () => {
  const other = join(folder, "other");
  for (const name of ["src", "package.json", "tsconfig.json"]) {
    cpSync(join(root, name), join(other, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(other, "node_modules"));
  await emitTypes(other, [join(other, "dist")]);
  const textsIn = (path: string) =>
    readdirSync(path)
      .filter((name) => name.endsWith(".d.ts"))
      .map((name) => [name, readFileSync(join(path, name), "utf8")]);
  expect(textsIn(join(other, "dist"))).toEqual(textsIn(join(root, "dist/esm")));
});

describe("the tarball", () => {
  test("contains the expected files, and nothing else", () => {
    const expected = [
      /^(?:package\.json|LICENSE|(?:README|AGENTS|CHANGELOG|SECURITY)\.md|bin\/(?:svc-sandbox\.js|package\.json))$/,
      /^scenarios\/[a-z-]+\.yaml$/,
      /^docs\/(?:(?:(?:contributing|decisions)\/)?[\w-]+\.md|control-plane\.openapi\.json|images\/\w+\.(?:svg|webp))$/,
      /^examples\/(?:[a-z0-9-]+\/){0,2}[\w.-]+\.(?:md|[cm]?js|json|py|java|go|mod|xml|ya?ml|cfg)$/,
      /^examples\/deploy\/(?:nginx\.conf|svc-sandbox@\.service)$/,
      /^fixtures\/(?:README\.md|farmers\.(?:csv|geojson)|(?:farmers|organizations)\.(?:json|d\.cts))$/,
      /^packaging\/(?:go|java|python)\/(?:[\w/-]+\/)?(?:go\.mod|pom\.xml|pyproject\.toml|\w+\.(?:go|java|py)|org\.junit\.platform\.launcher\.\w+)$/,
      /^dist\/(?:(?:scenario|certificate)\.schema\.json|docs\.json\.br|openapi\.json|sbom\.cdx\.json|THIRD-PARTY-NOTICES\.txt|cjs\/package\.json)$/,
      /^dist\/(?:esm|cjs|browser)\/[\w.-]+\.js$/,
      /^dist\/(?:esm|cjs)\/[\w-]+\.d\.ts$/,
      /^dist\/dashboard\/(?:index\.html|assets\/[\w-]+\.(?:js|css|svg)\.br)$/,
    ];
    const others = packed.files.filter(({ path }) => !expected.some((one) => one.test(path)));
    expect(others.map(({ path }) => path)).toEqual([]);
    expect(packed.files.map(({ path }) => path)).toContain("dist/THIRD-PARTY-NOTICES.txt");
    const ours = packed.files.filter(({ path }) => !path.startsWith("examples/"));
    expect(ours.filter(({ path }) => /\.test\.|\.test-d\.|\.map$/.test(path))).toEqual([]);
  });

  test("has what its pages point to", () => {
    const pages = packed.files.filter(({ path }) => /^(?:CHANGELOG|SECURITY|docs\/[\w-]+)\.md$/.test(path));
    const paths = packed.files.map(({ path }) => path);
    const missing = pages.flatMap(({ path }) => {
      const text = readFileSync(join(installed, path), "utf8");
      const targets = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target]) =>
        posix.join(posix.dirname(path), target as string),
      );
      return targets.filter((target) => !paths.some((one) => one === target || one.startsWith(`${target}/`)));
    });
    // For those who work on it: in the repository.
    const leftOut = ["CONTRIBUTING.md", "scripts/README.md"];
    expect(missing.filter((target) => !leftOut.includes(target))).toEqual([]);
  });

  test("has a manifest for users: where the project is, and nothing of its development", () => {
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const { scripts: _, devDependencies: __, ...published } = project;
    expect(manifest).toEqual(published);
    expect(Object.keys(manifest).filter((name) => /^scripts$|dependencies$/i.test(name))).toEqual([]);
    const repository = manifest.repository.url.replace(/^git\+|\.git$/g, "");
    expect(manifest).toMatchObject({
      ...{ author: expect.any(String), homepage: `${repository}#readme`, bugs: `${repository}/issues` },
    });
  });

  test("has a README whose links and pictures work on the registry's page", () => {
    const readme = readFileSync(join(installed, "README.md"), "utf8");
    const targets = [...readme.matchAll(/\]\(([^)]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)].map(
      ([, link, attribute]) => link ?? attribute ?? "",
    );
    expect(targets.filter((target) => !/^https:|^#/.test(target))).toEqual([]);
    const own =
      /^https:\/\/(github\.com|raw\.githubusercontent\.com)\/([\w-]+\/[\w-]+)\/(?:blob\/)?v([\w.-]+)\/([^#]+)/;
    const places = targets.flatMap((target) => own.exec(target)?.slice(1) ?? []);
    expect(places.length).toBeGreaterThan(9);
    for (const target of targets) {
      const [, host, repository, version, path = ""] = own.exec(target) ?? [];
      if (host === undefined) continue;
      expect(project.homepage).toContain(`/${repository}#`);
      expect([target, version, existsSync(join(root, path))]).toEqual([target, project.version, true]);
      expect(host === "raw.githubusercontent.com").toBe(/\.(?:webp|svg|png)$/.test(path));
    }
  });

  test("contains nothing of the machine that built it", () => {
    const leaking = packed.files.filter(({ path }) => {
      // `init` names the package of the reader's project.
      const text = readFileSync(join(installed, path), "utf8").replaceAll("./node_modules/svc-sandbox", "");
      if (text.includes(root) || text.includes("sourceMappingURL")) return true;
      // The pages and workflows speak of those of the reader.
      return !/^(?:docs|examples\/\w+\/sandbox\.yml$)/.test(path) && text.includes("/node_modules/");
    });
    expect(leaking.map(({ path }) => path)).toEqual([]);
  });

  test("is small, and the dashboard is a small part of it", () => {
    const sizeOf = (folder: string) => {
      const files = packed.files.filter(({ path }) => path.startsWith(folder));
      const sizes = files.map(({ path }) => gzipSync(readFileSync(join(installed, path))).length);
      const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
      return { packed: sum(sizes), unpacked: sum(files.map(({ size }) => size)) };
    };
    const dashboard = sizeOf("dist/dashboard/");
    expect(dashboard.packed).toBeGreaterThan(20_000);
    expect(dashboard.packed).toBeLessThan(60_000);
    const docs = sizeOf("dist/docs.json.br").packed + sizeOf("docs/images/").packed;
    expect(docs).toBeLessThan(185_000);
    expect(packed.size - dashboard.packed).toBeLessThan(2_300_000);
    expect(packed.unpackedSize).toBeLessThan(8_900_000);
  });

  test("names the packages that are bundled in it, with their license texts", () => {
    const notices = readFileSync(join(installed, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    const { metadata, components } = JSON.parse(readFileSync(join(installed, "dist/sbom.cdx.json"), "utf8"));
    expect(metadata.component).toMatchObject({ name: "svc-sandbox", version: project.version });
    const texts = new Map(
      notices.split(/^## /m).map((part) => [part.slice(0, part.indexOf(" (")), part] as const),
    );
    const without = components.filter(
      ({ name, version }: Record<string, string>) =>
        !/copyright|license/i.test(texts.get(`${name} ${version}`)?.split("\n").slice(1).join("\n") ?? ""),
    );
    expect(without).toEqual([]);
    expect(texts.has(`@faker-js/faker ${project.devDependencies["@faker-js/faker"]}`)).toBe(true);
    const some = ["yaml", "express"];
    for (const name of [...some, "preact"]) {
      expect(notices).toMatch(new RegExp(`^## ${name} \\d+\\.\\d+\\.\\d+ \\((?:MIT|ISC)\\)$`, "m"));
    }
  });
});

describe("an installation", () => {
  test("is one package", async () => {
    const packages = readdirSync(join(folder, "user/node_modules")).filter((name) => !name.startsWith("."));
    expect(packages).toEqual(["svc-sandbox"]);
  });

  const needed = [
    ["msw", "msw 2.0"],
    ["vitest", "vitest 3.2"],
  ];

  /** What the entry points that need packages of the user reject with, or throw, in a folder. */
  const failures = async (place: string) => {
    const code = `import { createRequire } from "node:module";
      const told = ({ name, code, message }) => [name, code, message];
      const tries = ${JSON.stringify(needed.map(([entry]) => `svc-sandbox/${entry}`))}.map(async (entry) => [
        await import(entry).then(() => "loaded", told),
        await Promise.resolve(entry).then(createRequire(process.cwd() + "/x.js")).then(() => "loaded", told)]);
      console.log(JSON.stringify(await Promise.all(tries)));`;
    const cwd = join(folder, place);
    return JSON.parse((await runProgram("node", ["--input-type=module", "-e", code], { cwd })).stdout);
  };
  const sentence = (text: string) => {
    const failure = ["SandboxError", "package_unusable", expect.stringMatching(text)];
    return [failure, failure];
  };

  test("an entry point whose package is missing rejects with the error of Node, which names it", async () => {
    const missing = (name = "") => [
      "Error",
      expect.stringMatching(/NOT_FOUND$/),
      expect.stringContaining(`'${name}'`),
    ];
    expect(await failures("user")).toEqual(needed.map(([name]) => [missing(name), missing(name)]));
  });

  test("an entry point whose package is too old rejects with package_unusable, imported and required", async () => {
    await install(join(folder, "old"), [packed.tarball]);
    const old = { msw: "1.3.5", vitest: "3.1.4" };
    for (const [name, version] of Object.entries(old)) {
      const place = join(folder, "old/node_modules", name);
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, "package.json"), JSON.stringify({ name, version }));
      // Names that versions too old have, too.
      writeFileSync(
        join(place, "index.js"),
        name === "vitest" ? "exports.expect = exports.test = () => {};" : "",
      );
    }
    expect(await failures("old")).toEqual(
      needed.map(([entry, version]) => sentence(`^svc-sandbox/${entry} needs ${version} or later`)),
    );
  });

  test("allows imports of its JSON files", async () => {
    const names = ["package.json", "openapi.json", "scenario.schema.json", "certificate.schema.json"];
    const text = names.map((name) => `require("svc-sandbox/${name}")`).join(";");
    const { code, output } = await runProgram("node", ["-e", text], { cwd: join(folder, "user") });
    expect([code, output]).toEqual([0, ""]);
  });

  test("has the fixtures for import and for require, as fixtures/README.md shows", async () => {
    const readme = readFileSync(join(installed, "fixtures/README.md"), "utf8");
    const [esm = "", commonJs = "", files = ""] = [...readme.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(
      ([, text]) => text,
    );
    const run = async (text: string, type: string) => {
      const { code, output } = await runProgram("node", [`--input-type=${type}`, "-e", text], {
        cwd: join(folder, "user"),
      });
      return [code, output];
    };
    const first = JSON.parse(readFileSync(join(root, "fixtures/farmers.json"), "utf8"))[0];
    const said = [0, `${first.name.surname} 20\n`];
    expect([await run(esm, "module"), await run(commonJs, "commonjs")]).toEqual([said, said]);
    const others = `${files}
      for (const name of ["farmers.geojson", "organizations.json"])
        if (readFileSync(new URL(import.meta.resolve("svc-sandbox/fixtures/" + name))).length < 99) throw name;
      console.log(csv.split("\\n").length);`;
    expect(await run(others, "module")).toEqual([0, "22\n"]);
  });
});

describe("the examples", () => {
  const example = (path: string) => readFileSync(join(root, "examples", path), "utf8");

  test("have the same client in JavaScript", () => {
    const client = example("node-test/confirm-key.js");
    expect(example("vitest/confirm-key.js")).toBe(client);
    expect(example("jest/confirm-key.js")).toBe(
      `${client.replace("export async", "async")}\nmodule.exports = { confirmKey };\n`,
    );
  });
});

// The declarations in the tarball, as a compiler that checks them too (`skipLibCheck: false`) sees them.

const library = `
import { createSandbox, parseScenario, SandboxError, type Sandbox, type Scenario } from "svc-sandbox";
export const sandbox = createSandbox({ scenario: "key-states" });
export const secret: string = sandbox.secret("active");
// @ts-expect-error: a ref that the scenario does not have
sandbox.secret("nobody");
export const parsed: Scenario = parseScenario("version: 1");
export const own: Sandbox = createSandbox({ scenario: parsed });
export const known = (error: unknown) => error instanceof SandboxError && error.code === "unknown_ref";
`;
const otherDoors = `
import { setupServer } from "msw/node";
import { createHandlers, handlers, sandbox as ready } from "svc-sandbox/msw";
import { loadScenario, startServer, type SandboxServer } from "svc-sandbox/node";
import { test as ofVitest } from "svc-sandbox/vitest";
export const server = setupServer(...handlers, ...createHandlers(ready, { baseUrl: "https://api.example" }));
ofVitest("a test", async ({ sandbox, server, secret }) => {
  // @ts-expect-error: a ref is a text
  secret(sandbox.seed);
  ofVitest.override({ sandboxOptions: { scenario: "rotation", seed: 2 } });
  const url: string = server.url;
});
export const start = async (): Promise<SandboxServer> => startServer({ scenario: (await loadScenario("x")).scenario });
`;

/**
 * Compiles a text in one of the two folders; returns what the compiler says of it and of our declarations. Other
 * declarations are read and not judged: those of msw have errors of their own.
 */
function compile(text: string, place: "user" | "beside", flags: ts.CompilerOptions, ending: string) {
  const consumer = join(folder, place, `consumer.${ending}`);
  writeFileSync(consumer, text);
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true },
    ...{ target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] },
    types: place === "user" ? [] : ["node"],
    ...flags,
  };
  const host = ts.createCompilerHost(options);
  host.getCurrentDirectory = () => join(folder, place);
  const program = ts.createProgram([consumer], options, host);
  const judged = program
    .getSourceFiles()
    .filter(({ fileName }) => fileName === consumer || fileName.includes("/node_modules/svc-sandbox/"));
  expect(judged.length).toBeGreaterThan(1);
  const diagnostics = judged.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  return [...program.getOptionsDiagnostics(), ...diagnostics].map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
  );
}

const { ModuleKind, ModuleResolutionKind } = ts;

test("svc-sandbox and its server need the types of no other package, and no library of disposables", () => {
  const server = `import { startServer } from "svc-sandbox/node";
export const url = async () => (await startServer({ scenario: "rotation" })).sandbox.secret("retiring");`;
  expect(compile(library + server, "user", { module: ModuleKind.NodeNext }, "mts")).toEqual([]);
});

test.each([
  [{ module: ModuleKind.NodeNext }, "mts"],
  [{ module: ModuleKind.NodeNext }, "cts"],
  // What `--module commonjs` alone means up to TypeScript 5.
  [{ module: ModuleKind.CommonJS, moduleResolution: ModuleResolutionKind.Node10 }, "ts"],
])("all entry points compile with %j in a .%s file, with msw and @types/node", (flags, ending) => {
  expect(compile(library + otherDoors, "beside", flags, ending)).toEqual([]);
});

test.each([
  [
    "mts",
    ModuleKind.NodeNext,
    'import farmers from "svc-sandbox/fixtures/farmers.json" with { type: "json" };',
  ],
  ["mts", ModuleKind.Preserve, 'import farmers from "svc-sandbox/fixtures/farmers.json";'],
  ["cts", ModuleKind.NodeNext, 'import farmers = require("svc-sandbox/fixtures/farmers.json");'],
])(
  "the farmers of a fixture are farmers to the compiler, in a .%s file with module %i",
  (ending, module, text) => {
    const use =
      'import type { Farmer } from "svc-sandbox";\nexport const first: Farmer | undefined = farmers[0];';
    expect(compile(`${text}\n${use}`, "user", { module }, ending)).toEqual([]);
  },
);
