import { sectionOf } from "../../test/support/pages.js";

/** The packages of the cells, exact, so that no release changes our results. */
const versions = {
  /** The oldest msw that `svc-sandbox/msw` works with. */
  mswOldest: "msw@2.0.0",
  /** The last msw whose packages are all CommonJS: what Jest loads in its default setup. */
  mswCommonJs: "msw@2.11.2",
  msw2: "msw@2.15.0",
  /** Needs Node 22.12 or later. */
  msw3: "msw@3.0.5",
  playwright: "@playwright/test@1.65.1",
  jest: "jest@30.5.2",
  jestJsdom: "jest-fixed-jsdom@0.0.11",
  babelCommonJs: "@babel/plugin-transform-modules-commonjs@7.29.14",
  /** The oldest vitest that works. */
  vitest3: "vitest@3.2.0",
  vitest4: "vitest@4.1.12",
  jsdom26: "jsdom@26.1.0",
  /** Needs Node 22.12 or later. */
  vitest5: "vitest@5.1.0",
  jsdom31: "jsdom@31.0.1",
  bun: "bun@1.4.5",
  deno: "deno@2.9.6",
} as const;

const nodeMajors = [20, 22, 24, 26] as const;
/** For what the library does not decide by the version of Node: the oldest and the newest. */
const ends = [20, 26] as const;

export type NodeMajor = (typeof nodeMajors)[number];

export type Format = "esm" | "cjs";

export type Runner = "node:test" | "jest" | "vitest" | "playwright" | "bun" | "deno";

export interface Cell {
  readonly node: NodeMajor;
  readonly packages: readonly string[];
  readonly format: Format;
  readonly runner: Runner;
  /** What of the runner is not its default. */
  readonly setup?: string;
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files next to the tests of `test/matrix`, by name: configuration, and tests that are not adapted. */
  readonly files?: Readonly<Record<string, string>>;
  readonly tests: readonly string[];
  /** Whether `--quick` runs it. */
  readonly quick?: boolean;
}

const withoutMsw = ["library", "server", "cli"];
// Starting a command costs most of the time and has nothing to do with a runner.
const inRunner = ["library", "server", "msw"];

/** Every cell, those that share an installation next to each other. */
export const cells: readonly Cell[] = [
  ...nodeMajors.flatMap((node) =>
    nodeTest(
      node,
      [],
      withoutMsw,
      ends.some((end) => end === node),
    ),
  ),
  ...(["esm", "cjs"] as const).map((format): Cell => {
    return { node: 20, packages: [versions.mswOldest], format, runner: "node:test", tests: ["msw"] };
  }),
  ...nodeTest(20, [versions.msw2], ["msw"]),
  ...nodeTest(26, [versions.msw2], ["msw"], false),
  ...([22, 26] as const).flatMap((node) => nodeTest(node, [versions.msw3], ["msw"])),
  {
    node: 24,
    packages: [versions.msw2, `msw3@npm:${versions.msw3}`],
    format: "esm",
    runner: "node:test",
    setup: "msw 3 next to it",
    tests: ["two-msw"],
  },

  ...ends.flatMap((node) => [
    jest(node, [versions.jest], { tests: [...withoutMsw, "fake-timers"], quick: node === 20 }),
    jest(node, [versions.jest, versions.mswCommonJs], { tests: ["msw", "fake-timers-msw"] }),
  ]),
  jest(20, [versions.jest, versions.msw2, versions.babelCommonJs], {
    tests: inRunner,
    setup: "msw transformed",
    files: { "jest.config.js": documentedCode("Jest with a later msw") },
  }),
  jest(26, [versions.jest, versions.msw3], {
    tests: inRunner,
    setup: "--experimental-vm-modules",
    env: { NODE_OPTIONS: "--experimental-vm-modules" },
  }),
  jest(20, [versions.jest, versions.mswCommonJs, versions.jestJsdom], {
    tests: inRunner,
    setup: "jest-fixed-jsdom",
    argv: ["--env", "jest-fixed-jsdom"],
  }),

  {
    node: 20,
    packages: [versions.vitest3, versions.msw2],
    format: "esm",
    runner: "vitest",
    tests: [...inRunner, "fixtures-vitest-3"],
  },
  ...vitest(20, [versions.vitest4, versions.jsdom26, versions.msw2]),
  ...vitest(26, [versions.vitest5, versions.jsdom31, versions.msw3]),

  {
    node: 20,
    packages: [versions.playwright],
    format: "esm",
    runner: "playwright",
    quick: true,
    setup: versions.playwright,
    tests: [],
    files: { "documented.test.mjs": documentedCode("Playwright") },
  },

  // They run the tests themselves, and Node the commands that the tests start.
  ...(["bun", "deno"] as const).map((runner): Cell => {
    const packages = [versions[runner], versions.msw2];
    return { node: 24, packages, format: "esm", runner, tests: [...withoutMsw, "msw"] };
  }),

  documented(20, "node:test", [], { "documented.test.mjs": "node:test" }),
  documented(20, "jest", [versions.jest], { "documented.test.js": "Jest" }),
  documented(20, "vitest", [versions.vitest4, versions.jsdom26, versions.msw2], {
    "documented.test.mjs": "Vitest with msw",
    "fixtures.test.mjs": "Vitest",
  }),
  ...([versions.msw2, versions.msw3] as const).map((msw): Cell => {
    const node = msw === versions.msw2 ? 20 : 24;
    return {
      ...documented(node, "vitest", [versions.vitest4, versions.jsdom26, msw], {
        "vitest.config.js": "jsdom",
      }),
      setup: "XMLHttpRequest in jsdom, as documented",
      tests: ["page-requests"],
      argv: ["--environment", "jsdom"],
    };
  }),
];

/** What a cell is called: `node 20 · msw 2.15.0 · esm · vitest 4 (jsdom)`. */
export function nameOf({ node, packages, format, runner, setup }: Cell): string {
  const version = (name: string) =>
    packages
      .find((one) => one.startsWith(`${name}@`))
      ?.split("@")
      .at(-1);
  const major = version(runner)?.split(".")[0];
  const called = [runner, major, setup && `(${setup})`].filter((one) => one !== undefined);
  const msw = version("msw");
  return [`node ${node}`, msw === undefined ? "no msw" : `msw ${msw}`, format, called.join(" ")].join(" · ");
}

function nodeTest(
  node: NodeMajor,
  packages: readonly string[],
  tests: readonly string[],
  isRequired = true,
): Cell[] {
  const quick = node === 20 || (node === 22 && packages.includes(versions.msw3));
  const cell = { node, packages, runner: "node:test", quick } as const;
  // The data that a seed gives do not depend on how the test is written.
  const once = packages.length === 0 ? ["seeded"] : [];
  const imported: Cell = { ...cell, format: "esm", tests: [...tests, ...once] };
  return isRequired ? [imported, { ...cell, format: "cjs", tests }] : [imported];
}

/** A cell with files from the docs, each the first code under a heading. */
function documented(
  node: NodeMajor,
  runner: Runner,
  packages: readonly string[],
  headings: Readonly<Record<string, string>>,
): Cell {
  const format = runner === "jest" ? "cjs" : "esm";
  const documents = Object.entries(headings).map(([file, heading]) => [file, documentedCode(heading)]);
  const files = Object.fromEntries(documents);
  return { node, packages, format, runner, setup: "as documented", tests: [], files, quick: node === 20 };
}

type Rest = Partial<Cell> & Pick<Cell, "tests">;

function jest(node: NodeMajor, packages: readonly string[], rest: Rest): Cell {
  return { node, packages, format: "cjs", runner: "jest", ...rest };
}

function vitest(node: NodeMajor, packages: readonly string[]): Cell[] {
  const cell = { node, packages, format: "esm", runner: "vitest", tests: inRunner } as const;
  return [
    { ...cell, tests: [...inRunner, "fixtures-vitest"], quick: node === 20 },
    { ...cell, setup: "jsdom", argv: ["--environment", "jsdom"] },
  ];
}

/** The first JavaScript under a heading of the pages for JavaScript. Throws when there is none. */
function documentedCode(heading: string): string {
  const page = ["jsdom", "Jest with a later msw"].includes(heading)
    ? "docs/frameworks.md"
    : "docs/javascript.md";
  const section = sectionOf(page, heading);
  const code = /^```js\n([\s\S]*?)^```$/m.exec(section)?.[1];
  if (code === undefined) throw new Error(`${page}: no JavaScript under ${heading}`);
  return code;
}
