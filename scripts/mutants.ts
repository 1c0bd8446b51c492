import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { alignColumns } from "../src/report/plain-text.js";
import { randomStream } from "../src/spec/seed.js";
import { install } from "./install.js";
import { root, runProgram } from "./run-program.js";

// `npm run mutants`: plants mistakes in the source with Stryker, which only this command installs, and prints those that the
// quick tests of a room do not notice. By default the rooms and files that differ from `main`; words name rooms instead, and
// `--all` takes them all and writes the scores into docs/development.md. A seed draws the sample of each room.

interface Room {
  /** The percentage of mutants that tests must notice. */
  readonly goal: number;
  /** The folder of `src`. */
  readonly folder: string;
  /** Its tests in `test`, besides those in its folder. */
  readonly tests: RegExp;
}

const rooms: Readonly<Record<string, Room>> = {
  spec: {
    goal: 90,
    folder: "spec",
    tests: /^test\/(?:api\/(?:context|limits|same-rej)|operations|scenario\/problems)/,
  },
  scenario: { goal: 90, folder: "scenario", tests: /^test\/(?:scenario|cli\/validate|stories\/verify)/ },
  farmers: { goal: 85, folder: "farmers", tests: /^test\/(?:farmers\/(?:records|plausible))/ },
  sandbox: {
    goal: 90,
    folder: "sandbox",
    tests: /^test\/(?:operations|stories\/(?:t|v)|preview|faults|library\/s|api\/limits)/,
  },
  api: {
    goal: 90,
    folder: "api",
    tests: /^test\/(?:api\/(?:c|e|l|p|s)|faults|varied\/answers|changes|preview)/,
  },
  report: { goal: 85, folder: "report", tests: /^test\/(?:report)/ },
  library: { goal: 85, folder: "library", tests: /^test\/(?:library|undici)/ },
  check: { goal: 85, folder: "check", tests: /^test\/(?:check)/ },
  certify: { goal: 85, folder: "certify", tests: /^test\/(?:certify)/ },
  node: { goal: 85, folder: "node", tests: /^test\/(?:node|log|check\/reach|control\/state)/ },
  log: {
    goal: 90,
    folder: "log",
    tests: /^test\/(?:log|control\/(?:state|instances|tenants)|cli\/backup|store\/redis-log)/,
  },
  sockets: {
    goal: 90,
    folder: "server/sockets",
    tests: /^test\/(?:node|faults\/s|control\/(?:metrics|instances|tenants))/,
  },
  control: { goal: 90, folder: "server/control", tests: /^test\/(?:control)/ },
  cli: { goal: 85, folder: "cli", tests: /^test\/(?:cli|report\/entry-points|stories\/(?:play|verify))/ },
};

/** A planted mistake, as Stryker describes it. */
interface Mutant {
  readonly fileName?: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: Readonly<Record<"start" | "end", { readonly line: number; readonly column: number }>>;
  readonly status?: string;
}

/** A mutant that changes nothing, by the line that it is in. */
interface Equivalent {
  readonly file: string;
  readonly line: string;
  readonly replacement: string;
  readonly reason: string;
}

const folder = join(root, "scripts/tools/mutants");
const stryker = join(folder, "node_modules/@stryker-mutator");
const equivalents: readonly Equivalent[] = JSON.parse(readFileSync(join(folder, "equivalent.json"), "utf8"));
// Texts are for people, and tests check codes.
const excludedMutations = ["StringLiteral", "Regex"];
// Tests of the built command line run other code, and pages need a browser.
const isOutside =
  /running-command|exec-client|userFolder|chromium|browser-page|open-dashboard|vi\.mock\(|HeapSnapshot|a million farmers/;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean" },
    seed: { type: "string", default: "1" },
    sample: { type: "string", default: "80" },
    concurrency: { type: "string", default: "2" },
  },
});

const filesIn = (path: string) =>
  existsSync(join(root, path))
    ? readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map((file) => join(path, file))
    : [];
const git = (...argv: string[]) => execFileSync("git", argv, { cwd: root, encoding: "utf8" }).split("\n");

/** The test files of a room that run its source in their own process. */
function testsOf({ folder, tests }: Room): string[] {
  return [...filesIn(`src/${folder}`), ...filesIn("test").filter((file) => tests.test(file))].filter(
    (file) => file.endsWith(".test.ts") && !isOutside.test(readFileSync(join(root, file), "utf8")),
  );
}

/** Draws places of mutants from files; a place of at most three lines is taken with all mutants in it. */
async function drawSample(
  files: readonly string[],
): Promise<{ readonly places: string[]; readonly of: number }> {
  const { Instrumenter } = await import(join(stryker, "instrumenter/dist/src/index.js"));
  const silent = { debug() {}, info() {}, isDebugEnabled: () => false };
  const sources = files.map((name) => ({
    name,
    mutate: true,
    content: readFileSync(join(root, name), "utf8"),
  }));
  const options = { plugins: null, excludedMutations, ignorers: [], noHeader: true };
  const { mutants }: { mutants: readonly Mutant[] } = await new Instrumenter(silent).instrument(
    sources,
    options,
  );
  const draw = randomStream(Number(flags.seed), ...files);
  const drawn = mutants
    .map((mutant) => ({ mutant, order: draw() }))
    .sort((one, other) => one.order - other.order)
    .flatMap(
      ({
        mutant: {
          fileName,
          location: { start, end },
        },
      }) =>
        end.line - start.line > 2
          ? []
          : `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`,
    );
  return { places: [...new Set(drawn)].slice(0, Math.ceil(Number(flags.sample) * 0.6)), of: mutants.length };
}

/** Plants the mutants of places, and returns each with its status. */
async function plant(places: readonly string[], tests: readonly string[]): Promise<Mutant[]> {
  const temporary = mkdtempSync(join(tmpdir(), "svc-sandbox-mutants-"));
  const [config, report] = ["config.json", "report.json"].map((name) => join(temporary, name)) as [
    string,
    string,
  ];
  const settings = {
    ...{ packageManager: "npm", testRunner: "vitest", mutate: places, mutator: { excludedMutations } },
    plugins: [join(stryker, "vitest-runner/dist/src/index.js")],
    vitest: { configFile: "scripts/tools/mutants/vitest.config.ts", related: false },
    ...{
      coverageAnalysis: "perTest",
      concurrency: Number(flags.concurrency),
      timeoutMS: 60_000,
      dryRunTimeoutMinutes: 30,
    },
    ...{ reporters: ["json"], jsonReporter: { fileName: report }, tempDirName: join(temporary, "copy") },
    ignorePatterns: ["dist", "bench", "docs/images", "binaries", "site"],
  };
  writeFileSync(config, JSON.stringify(settings));
  const env = { MUTANT_TESTS: tests.join(), CHROMIUM_PATH: "/none" };
  try {
    const argv = [join(stryker, "core/bin/stryker.js"), "run", config];
    const { code, output } = await runProgram(process.execPath, argv, { env, timeout: 6 * 3_600_000 });
    if (code !== 0) throw new Error(output.slice(-4000));
    const files: Record<string, { mutants: Mutant[] }> = JSON.parse(readFileSync(report, "utf8")).files;
    return Object.entries(files).flatMap(([fileName, { mutants }]) =>
      mutants.map((one) => ({ ...one, fileName })),
    );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const lineOf = ({ fileName = "", location }: Mutant) =>
  (readFileSync(join(root, fileName), "utf8").split("\n")[location.start.line - 1] ?? "").trim();
const isEquivalent = (mutant: Mutant) =>
  equivalents.some(
    ({ file, line, replacement }) =>
      file === mutant.fileName && line === lineOf(mutant) && replacement === mutant.replacement,
  );

if (!existsSync(stryker)) await install(folder, ["--omit=peer", "--legacy-peer-deps"], 600_000);
const changed = new Set([
  ...git("diff", "--name-only", "main"),
  ...git("ls-files", "--others", "--exclude-standard"),
]);
const rows: string[][] = [];
for (const [name, room] of Object.entries(rooms)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const isWhole = flags.all === true || positionals.length > 0;
  const files = filesIn(`src/${room.folder}`).filter(
    (file) => /(?<!\.test|\.generated)\.ts$/.test(file) && (isWhole || changed.has(file)),
  );
  if (files.length === 0) continue;
  const { places, of } = await drawSample(files);
  const found = (await plant(places, testsOf(room))).filter(({ status = "" }) =>
    /Killed|Timeout|Survived|NoCoverage/.test(status),
  );
  const [equal, real] = [found.filter(isEquivalent), found.filter((one) => !isEquivalent(one))];
  const missed = real.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  for (const one of missed)
    console.log(
      `${one.fileName}:${one.location.start.line}:${one.location.start.column} ${one.mutatorName} ${one.status}: ${lineOf(one)}\n    → ${one.replacement.replaceAll(/\s+/g, " ")}`,
    );
  const score = Math.round((100 * (real.length - missed.length)) / Math.max(1, real.length));
  rows.push([
    name,
    `${score}%`,
    `${room.goal}%`,
    `${real.length - missed.length} of ${real.length}`,
    String(equal.length),
    of.toLocaleString("en"),
  ]);
  console.log(alignColumns([rows.at(-1) as string[]])[0]);
  if (score < room.goal) process.exitCode = 1;
}
if (flags.all) {
  const page = join(root, "docs/development.md");
  const head = ["room", "noticed", "goal", "tried", "change nothing", "of all"];
  const table = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
  const text = readFileSync(page, "utf8");
  writeFileSync(page, text.replace(/(?<=<!-- mutants -->\n\n)[\s\S]*?(?=\n\n<!-- end -->)/, table));
}
