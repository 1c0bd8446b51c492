import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { randomStream } from "../src/spec/seed.js";
import { install } from "./install.js";
import { root, runProgram } from "./run-program.js";

// `npm run mutants`: plants mistakes with Stryker's instrumenter, which only this command installs, and prints those that no test
// notices: by default in files that differ from `main`, with words in the rooms of these names, with `--all` in all rooms. A seed
// draws the mutants of each room. `--write` writes the scores into docs/development.md. `--quick` tries a few, without a verdict.

/** By room, its folder of `src`, the percentage of mutants that tests must notice, and the start of the paths of its tests. */
const rooms: Readonly<Record<string, readonly [folder: string, goal: number, tests: RegExp]>> = {
  spec: ["spec", 90, /^test\/(?:api|faults|docs|scenario|varied|report\/client|control\/(?:world|writes))/],
  scenario: [
    "scenario",
    90,
    /^test\/(?:scenario|messages|docs|stories|changes|records|library\/snapshot|control\/scenario|cli\/(?:validate|scenarios)|openapi\/documents)/,
  ],
  farmers: ["farmers", 85, /^test\/(?:scenario\/population|records\/)/],
  sandbox: [
    "sandbox",
    90,
    /^test\/(?:operations|stories|records|api|faults|library|changes|log|varied|report\/client|scenario\/pop|control\/(?:world|upcoming|story|state))/,
  ],
  api: [
    "api",
    90,
    /^test\/(?:api|faults|varied|records|changes|openapi\/(?!hostile)|report\/client|control\/(?:request-checks|requests|desc))/,
  ],
  // The others in test/openapi start processes.
  openapi: [
    "openapi",
    90,
    /^test\/(?:openapi\/(?:documents|directions|media|mis|paths|samples|hostile)|records\/(?:ch|re|ta))/,
  ],
  report: ["report", 85, /^test\/(?:report|docs|certify\/certificate)/],
  library: [
    "library",
    85,
    /^test\/(?:library|undici|operations|records|scenario\/(?:rehearsal|population)|cli\/capture|node\/custom-handlers)/,
  ],
  check: ["check", 85, /^test\/(?:check|changes)/],
  // The others in test/certify start many clients, or make their runs when they are imported.
  certify: ["certify", 85, /^test\/certify\/certificate/],
  node: [
    "node",
    85,
    /^test\/(?:node|cli|messages|certify\/[cvp]|check\/(?:ag|re)|control\/(?:state|story|events|scen)|log|records\/|report\/entry|stories)/,
  ],
  log: ["log", 90, /^test\/(?:log|store|control\/(?:state|instances|tenants)|cli\/backup)/],
  sockets: [
    "server/sockets",
    90,
    /^test\/(?:node|faults|undici|api\/(?:hostile|no-response)|control\/(?:docs|tenants|events|safety|world|reach|state|metrics|instances)|records\/|report\/entry|cli\/(?:tls|st|intercept))/,
  ],
  control: [
    "server/control",
    90,
    /^test\/(?:control|docs|openapi\/server|report\/entry|node|log|store|cli\/(?:start|stop|state)|records\/)/,
  ],
  cli: [
    "cli",
    85,
    /^test\/(?:cli|messages|stories|docs|changes|certify|check|farmers\/fix|records|openapi\/check|scenario\/rehearsal|report\/formats|store\/b)/,
  ],
};

/** As Stryker describes it. */
interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly replacement: string;
  readonly status?: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
}

const { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } = fs;
const filesIn = (path: string) =>
  readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map((file) => join(path, file));
const read = (file: string, base = root) => readFileSync(join(base, file), "utf8");
const git = (...argv: string[]) => execFileSync("git", argv, { cwd: root, encoding: "utf8" }).split("\n");

const folder = "scripts/tools/mutants";
const packages = join(root, folder, "node_modules/@stryker-mutator");
/** Mutants that change nothing, each by its file, its line and its replacement, with the reason. */
const equivalent: readonly Readonly<Record<"file" | "line" | "replacement" | "reason", string>>[] =
  JSON.parse(read(`${folder}/equivalent.json`));
// Tests that only start the built command line run other code, and pages need a browser.
const isOutside = (text: string) =>
  /chromium|browser-|open-dashboard|vi\.mock\(|HeapSnapshot|a million farmers/.test(text) ||
  (/running-command|exec-client|userFolder/.test(text) &&
    !/run-cli|execHere|replicas\.js|server\/index/.test(text));
const isOfOthers =
  /^test\/(?:bench|dashboard|docs\/(?!generated)|matrix|package|runners|site|types|store\/(?!redis-log|replicas|b))/;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ all: { type: "boolean" }, write: { type: "boolean" } },
    ...{ seed: { type: "string", default: "1" }, sample: { type: "string", default: "100" } },
    quick: { type: "boolean", default: false },
  },
});
/** Some of these are of code that runs when a file is imported, which no test can notice. */
const fewest = 10;
const isWhole = flags.all === true || positionals.length > 0;

/** The tests of some rooms that run the source in their own process, those next to it and short ones first. */
function testFiles(chosen: readonly string[]): string[] {
  const length = (file: string) => (file.startsWith("src") ? 0 : read(file).length);
  const isOfRoom = (file: string) =>
    chosen.some((room) => file.startsWith(`src/${rooms[room]?.[0]}/`) || rooms[room]?.[2].test(file));
  return [...filesIn("src"), ...filesIn("test")]
    .filter((file) => file.endsWith(".test.ts") && !isOfOthers.test(file) && !isOutside(read(file)))
    .filter(isOfRoom)
    .sort((one, other) => length(one) - length(other));
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
  const mutants = (made.mutants as readonly Mutant[]).filter(({ status }) => status !== "Ignored");
  const lines = new Map(sources.map(({ name, content }) => [name, content.split("\n")]));
  return { copy, mutants, lines };
}

/** Tries mutants with these tests; returns a word and an id for each thing that happened. */
async function tryMutants(
  copy: string,
  tests: readonly string[],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const results = join(copy, "results");
  writeFileSync(results, "");
  const own = { MUTANT_TESTS: tests.join(), MUTANT_IDS: ids.join(), MUTANT_RESULTS: results };
  const argv = ["node_modules/vitest/vitest.mjs", "run", "--config", `${folder}/vitest.config.ts`];
  const { output } = await runProgram(process.execPath, argv, {
    cwd: copy,
    env: { ...own, CHROMIUM_PATH: "/none" },
    timeout: 5 * 3_600_000,
  });
  // A run whose process was killed has tried only a part of them.
  if (!/Duration/.test(output) || /\[vitest-pool|Worker exited|ERR_IPC/.test(output))
    throw new Error(output.slice(-4000));
  return new Set(readFileSync(results, "utf8").split("\n"));
}

if (!existsSync(packages)) await install(join(root, folder), [], 600_000);
const untracked = () => git("ls-files", "--others", "--exclude-standard");
const changed = new Set(isWhole ? [] : [...git("diff", "--name-only", "main"), ...untracked()]);
const isChosen = (room: string, file: string) =>
  positionals.length > 0 ? positionals.includes(room) : isWhole || changed.has(file);
const filesOf = (room: string) =>
  filesIn(`src/${rooms[room]?.[0]}`).filter(
    (file) => /(?<!\.test|\.generated)\.ts$/.test(file) && isChosen(room, file),
  );
const byRoom = Object.keys(rooms)
  .map((room) => ({ room, files: filesOf(room) }))
  .filter(({ files }) => files.length > 0);
const { copy, mutants, lines } = await instrumentedCopy(byRoom.flatMap(({ files }) => files));
try {
  const samples = byRoom.map(({ room, files }) => {
    const all = mutants.filter(({ fileName }) => files.includes(fileName));
    const draw = randomStream(Number(flags.seed), room);
    const drawn = all.map((mutant) => ({ mutant, order: draw() })).sort((a, b) => a.order - b.order);
    return {
      room,
      all: all.length,
      sample: drawn.slice(0, flags.quick ? fewest : Number(flags.sample)).map(({ mutant }) => mutant),
    };
  });
  const results = await tryMutants(
    copy,
    testFiles(samples.map(({ room }) => room)),
    samples.flatMap(({ sample }) => sample.map(({ id }) => id)),
  );
  let page = read("docs/development.md");
  for (const { room, all, sample } of samples) {
    const lineOf = ({ fileName, location }: Mutant) =>
      (lines.get(fileName)?.[location.start.line] ?? "").trim();
    // What the import of a file has made stays as it is.
    const tried = sample.filter(({ id }) => !results.has(`loaded ${id}`));
    const counted = tried.filter(
      (one) =>
        !equivalent.some(
          ({ file, line, replacement }) =>
            file === one.fileName && line === lineOf(one) && replacement === one.replacement,
        ),
    );
    const missed = counted.filter(({ id }) => !results.has(`noticed ${id}`));
    for (const one of missed) {
      const { line, column } = one.location.start;
      const how = results.has(`reached ${one.id}`) ? "" : " (no test reaches it)";
      console.log(`${one.fileName}:${line + 1}:${column + 1}${how}: ${lineOf(one)}\n  → ${one.replacement}`);
    }
    const noticed = counted.length - missed.length;
    const score = Math.round((100 * noticed) / Math.max(1, counted.length));
    const [, goal = 0] = rooms[room] ?? [];
    const cells = [room, rangeOf(noticed, counted.length), `${goal}%`, `${noticed} of ${counted.length}`];
    const row = `| ${[...cells, tried.length - counted.length, all.toLocaleString("en")].join(" | ")} |`;
    console.log(row);
    // So few say nothing about tests, but none tried means that the command is broken.
    if (flags.quick ? counted.length === 0 : score < goal) process.exitCode = 1;
    page = page.replace(new RegExp(`^\\| ${room} \\| .*\\d \\|$`, "m"), row);
  }
  if (flags.write) writeFileSync(join(root, "docs/development.md"), page);
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** The shares of all mutants that such a sample allows with 95% confidence (Wilson's interval). */
function rangeOf(noticed: number, tried: number): string {
  if (tried === 0) return "0–100%";
  const z = 1.96;
  const share = noticed / tried;
  const center = share + z ** 2 / (2 * tried);
  const half = z * Math.sqrt((share * (1 - share)) / tried + z ** 2 / (4 * tried ** 2));
  const percent = (value: number) => Math.round((100 * value) / (1 + z ** 2 / tried));
  return `${percent(center - half)}–${percent(center + half)}%`;
}
