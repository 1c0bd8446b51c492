import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { randomStream } from "../src/spec/seed.js";
import { install } from "./install.js";
import { root, runProgram } from "./run-program.js";

// `npm run mutants`: plants mistakes with Stryker's instrumenter, which only this command installs, and prints those that the
// tests of a room do not notice. By default those in files that differ from `main`; words name rooms instead, and `--all` takes
// all rooms. `--write` writes the scores into docs/development.md. A seed draws the mutants of each room.

const filesIn = (path: string) =>
  readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map((file) => join(path, file));
const read = (file: string, base = root) => readFileSync(join(base, file), "utf8");
const git = (...argv: string[]) => execFileSync("git", argv, { cwd: root, encoding: "utf8" }).split("\n");
/** The percentage of mutants that tests must notice, the folder of `src`, and the start of the paths of further tests. */
type Room = Readonly<{ goal: number; folder: string; tests: string }>;

const rooms: Readonly<Record<string, Room>> = JSON.parse(read("scripts/tools/mutants/rooms.json"));

/** As Stryker describes it. */
interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly replacement: string;
  readonly status?: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
}

const folder = join(root, "scripts/tools/mutants");
const packages = join(folder, "node_modules/@stryker-mutator");
/** Mutants that change nothing, each by its file, its line and its replacement, with the reason. */
const equivalent: readonly Readonly<Record<"file" | "line" | "replacement" | "reason", string>>[] =
  JSON.parse(readFileSync(join(folder, "equivalent.json"), "utf8"));
// Tests of the built command line run other code, and pages need a browser.
const isOutside =
  /running-command|exec-client|userFolder|chromium|browser-|open-dashboard|vi\.mock\(|HeapSnapshot|a million farmers/;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ all: { type: "boolean" }, write: { type: "boolean" } },
    ...{ seed: { type: "string", default: "1" }, sample: { type: "string", default: "100" } },
  },
});
const isWhole = flags.all === true || positionals.length > 0;

const lineOf = ({ fileName, location }: Mutant) =>
  (read(fileName).split("\n")[location.start.line] ?? "").trim();

/** The test files of a room that run its source in their own process: those next to the source come first. */
function testsOf({ folder, tests }: Room): string[] {
  const isOfRoom = new RegExp(`^src/${folder}/|^(?:${tests})`);
  const files = [...filesIn("src"), ...filesIn("test")].filter((file) => isOfRoom.test(file));
  return files.filter((file) => file.endsWith(".test.ts") && !isOutside.test(read(file)));
}

/** Makes a copy of the project with all mutants of some files, none of which is active. */
async function instrumentedCopy(files: readonly string[]) {
  const { Instrumenter } = await import(join(packages, "instrumenter/dist/src/index.js"));
  const silent = { debug() {}, info() {}, isDebugEnabled: () => false };
  const sources = files.map((name) => ({ name, mutate: true, content: read(name) }));
  // Texts are for people, and tests check codes.
  const options = { plugins: null, excludedMutations: ["StringLiteral", "Regex"], ignorers: [] };
  const made = await new Instrumenter(silent).instrument(sources, options);
  const copy = mkdtempSync(join(tmpdir(), "svc-sandbox-mutants-"));
  const links = ["node_modules", "dist"];
  const filter = (path: string) => ![...links, ".git", "site", "binaries"].includes(basename(path));
  cpSync(root, copy, { recursive: true, filter });
  for (const link of links) symlinkSync(join(root, link), join(copy, link));
  for (const { name, content } of made.files) writeFileSync(join(copy, name), content);
  return { copy, mutants: (made.mutants as readonly Mutant[]).filter(({ status }) => status !== "Ignored") };
}

/** Tries a sample of the mutants of some files; returns those that count, and of these those that no test noticed. */
async function tryMutants(files: readonly string[], tests: readonly string[]) {
  const { copy, mutants } = await instrumentedCopy(files);
  try {
    const draw = randomStream(Number(flags.seed), ...files);
    const drawn = mutants
      .map((mutant) => ({ mutant, order: draw() }))
      .sort((one, other) => one.order - other.order);
    const sample = drawn.slice(0, Number(flags.sample)).map(({ mutant }) => mutant);
    writeFileSync(join(copy, "results"), "");
    const env = {
      ...{ MUTANT_TESTS: tests.join(), MUTANT_IDS: sample.map(({ id }) => id).join() },
      ...{ MUTANT_RESULTS: join(copy, "results"), CHROMIUM_PATH: "/none" },
    };
    const argv = [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--config",
      "scripts/tools/mutants/vitest.config.ts",
    ];
    const { output } = await runProgram(process.execPath, argv, { cwd: copy, env, timeout: 5 * 3_600_000 });
    const results = new Set(read("results", copy).split("\n"));
    if (!results.has("finished")) throw new Error(output.slice(-4000));
    const isEquivalent = (one: Mutant) =>
      equivalent.some(
        ({ file, line, replacement }) =>
          file === one.fileName && line === lineOf(one) && replacement === one.replacement,
      );
    // Code that only the import of a file runs is not tried.
    const tried = sample.filter(({ id }) => results.has(`reached ${id}`) || !results.has(`loaded ${id}`));
    const counted = tried.filter((one) => !isEquivalent(one));
    const missed = counted.filter(({ id }) => !results.has(`noticed ${id}`));
    for (const one of missed) {
      const { line, column } = one.location.start;
      const how = results.has(`reached ${one.id}`) ? "" : " (no test reaches it)";
      console.log(`${one.fileName}:${line + 1}:${column + 1}${how}: ${lineOf(one)}\n  → ${one.replacement}`);
    }
    return {
      all: mutants.length,
      counted: counted.length,
      missed: missed.length,
      equal: tried.length - counted.length,
    };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

if (!existsSync(packages)) await install(folder, [], 600_000);
const changed = new Set([
  ...git("diff", "--name-only", "main"),
  ...git("ls-files", "--others", "--exclude-standard"),
]);
for (const [name, room] of Object.entries(rooms)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const files = filesIn(`src/${room.folder}`).filter(
    (file) => /(?<!\.test|\.generated)\.ts$/.test(file) && (isWhole || changed.has(file)),
  );
  if (files.length === 0) continue;
  const { all, counted, missed, equal } = await tryMutants(files, testsOf(room));
  const score = Math.round((100 * (counted - missed)) / Math.max(1, counted));
  const row = `| ${name} | ${score}% | ${room.goal}% | ${counted - missed} of ${counted} | ${equal} | ${all.toLocaleString("en")} |`;
  console.log(row);
  if (score < room.goal) process.exitCode = 1;
  const page = read("docs/development.md").replace(new RegExp(`^\\| ${name} \\| .*\\d \\|$`, "m"), row);
  if (flags.write) writeFileSync(join(root, "docs/development.md"), page);
}
