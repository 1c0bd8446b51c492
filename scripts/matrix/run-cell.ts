import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "../run-program.js";
import type { Cell, Format, Runner } from "./cells.js";

export type CellSurroundings = Readonly<{ installation: string; nodeBin: string; slug: string }>;

const bunProgram = `node_modules/@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}/bin/bun`;
const sources = fileURLToPath(new URL("../../test/matrix/", import.meta.url));
const timeout = 90_000;

/** Runs the tests of a cell; returns the output if they fail, or `undefined`. */
export async function runCell(cell: Cell, { installation, nodeBin, slug }: CellSurroundings) {
  const folder = join(installation, slug);
  await mkdir(folder, { recursive: true });
  const files = { ...(await adaptedTests(cell)), ...cell.files };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const tests = Object.keys(files).filter((name) => name.includes(".test."));
  const config = ["jest.config.js", "vitest.config.js"].find((name) => cell.files?.[name] !== undefined);
  const paths = tests.map((name) => `${slug}/${name}`);
  const [program, ...argv] = [...commandLines[cell.runner](slug, paths), ...(cell.argv ?? [])];
  if (config !== undefined) argv.push("--config", `${slug}/${config}`);
  const file = join(program === "node" ? nodeBin : installation, program as string);
  // Commands that the tests start, npx among them, take the cell's Node as well.
  const env = { ...cell.env, PATH: `${nodeBin}${delimiter}${process.env.PATH}` };
  // Under exec, which ends with 4 if it counts no request of the tests' own sandboxes.
  const sandbox = join(installation, "node_modules/svc-sandbox/bin/svc-sandbox.js");
  const isCounted = countedRunners.includes(cell.runner);
  const line = isCounted ? [join(nodeBin, "node"), sandbox, "exec", "--quiet", "--", file] : [file];
  const [first, ...others] = [...line, ...argv] as [string, ...string[]];
  const { code, output } = await runProgram(first, others, { cwd: installation, timeout, env });
  return code === 0 ? undefined : output;
}

const countedRunners: readonly Runner[] = ["node:test", "jest", "vitest"];

async function adaptedTests({ tests, format, runner }: Cell): Promise<Record<string, string>> {
  const adapted: Record<string, string> = {};
  for (const name of tests) {
    const text = await readFile(join(sources, `${name}.test.mjs`), "utf8");
    adapted[name + extensionFor(format, runner)] = adapt(text, format, runner);
  }
  return adapted;
}

// A runner's own limit, usually five seconds for a test, would measure the other processes of the machine.
const commandLines: Readonly<Record<Runner, (folder: string, files: readonly string[]) => string[]>> = {
  "node:test": (_folder, files) => ["node", "--test", ...files],
  jest: (folder) => ["node", "node_modules/jest/bin/jest.js", `--testTimeout=${timeout}`, `/${folder}/`],
  vitest: (folder) => [
    "node",
    "node_modules/vitest/vitest.mjs",
    "run",
    `--testTimeout=${timeout}`,
    "--dir",
    folder,
  ],
  playwright: (folder) => [
    "node",
    "node_modules/@playwright/test/cli.js",
    "test",
    `/${folder}/`,
    "--reporter=line",
    `--timeout=${timeout}`,
    `--output=${folder}/results`,
  ],
  // Not by way of the package `bun`, which needs its install script.
  bun: (_folder, files) => [bunProgram, "test", `--timeout=${timeout}`, ...files.map((file) => `./${file}`)],
  deno: (_folder, files) => ["node", "node_modules/deno/bin.cjs", "test", "-A", "--no-check", ...files],
};

/** The text of a test file of `test/matrix`, as it has to be for a format and a runner. */
function adapt(text: string, format: Format, runner: Runner): string {
  // Jest's `test` is a global one; Bun and Deno have Node's.
  const from = runner === "vitest" ? "vitest" : "node:test";
  const named = text.replace(
    'import { test } from "node:test";\n',
    runner === "jest" ? "" : `import { test } from "${from}";\n`,
  );
  return format === "esm" ? named : withRequire(named);
}

/** The end of a test file's name that the runner expects. Jest takes `.js` for CommonJS by default. */
function extensionFor(format: Format, runner: Runner): string {
  return format === "esm" ? ".test.mjs" : runner === "jest" ? ".test.js" : ".test.cjs";
}

function withRequire(text: string): string {
  return text
    .replace(/^import \{ (.+) \} from (".+");$/gm, (_line, names: string, from) => {
      return `const { ${names.replaceAll(" as ", ": ")} } = require(${from});`;
    })
    .replace(/^import (\w+) from (".+");$/gm, "const $1 = require($2);");
}
