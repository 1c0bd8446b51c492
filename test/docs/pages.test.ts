import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import project from "../../package.json" with { type: "json" };
import { requestChecks } from "../../src/api/authorize.js";
import { minOutcomes } from "../../src/certify/plain-run.js";
import { exitCode } from "../../src/cli/exit-codes.js";
import { createSandbox, outcomes, scenarioNames } from "../../src/index.js";
import { keyStates } from "../../src/rules/key-state.js";
import type { Outcome } from "../../src/rules/outcomes.js";
import { actionNames } from "../../src/scenario/actions.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { hostileGroups } from "../support/hostile-requests.js";
import { anchorOf, membersIn, pageNames, pageOf, root, scenarioSchema, sectionOf } from "../support/pages.js";

// Each page names all that there is of its subject, and its links lead somewhere.

const markdownIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => posix.join(folder, name));

/** The anchors of a page's headings, as the hosts of Markdown make them. */
function headingAnchors(text: string): string[] {
  const seen = new Map<string, number>();
  return [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => {
    const anchor = anchorOf(title);
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

test("every outcome that a page names exists, or is the success of an endpoint of a scenario", () => {
  const isSuccessOfScenario = (id: string) => /^20[0124]\.[a-z]+[A-Z]\w*$/.test(id);
  const named = pageNames.flatMap((page) =>
    Array.from(pageOf(page).matchAll(/`((?:\d{3}|fault)\.\w+)`/g), ([, id = ""]) => ({ page, id })),
  );
  const wrong = named.filter(({ id }) => !isSuccessOfScenario(id) && outcomes.every((row) => row.id !== id));
  expect([named.length > 60, wrong]).toEqual([true, []]);
});

test("every link of a page leads to a file, and to an anchor of it", () => {
  const pages = [
    "README.md",
    "AGENTS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    ...["bench", "docs", "examples", "fixtures", "scripts", "test"].flatMap(markdownIn),
  ];
  const anchors = new Map<string, string[]>();
  const anchorsOf = (page: string) => {
    const headings = anchors.get(page) ?? headingAnchors(pageOf(page));
    anchors.set(page, headings);
    return headings;
  };
  const dead = pages.flatMap((page) =>
    [...pageOf(page).matchAll(/\]\(([^)\s#]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, path = "", anchor]) => {
      if (/^[a-z]+:/.test(path)) return [];
      const file = path === "" ? page : posix.join(posix.dirname(page), path);
      const isThere = existsSync(join(root, file));
      return isThere && (anchor === undefined || anchorsOf(file).includes(anchor)) ? [] : `${page}: ${link}`;
    }),
  );
  expect([pages.length > 60, dead]).toEqual([true, []]);
});

/** How many words a text has. The bars of tables are none, and lists of headings repeat words. */
function wordsIn(text: string): number {
  const read = text.replace(/^<!-- headings -->\n[\s\S]*?<!-- \/headings -->\n/m, "");
  return read.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

test("the pages have 21,300 words, the README 600, a guide 1,200, the decisions 3,100, those for contributors 2,300", () => {
  const words = (pages: readonly string[]) => pages.reduce((sum, page) => sum + wordsIn(pageOf(page)), 0);
  // The package has the page for agents as AGENTS.md.
  const pages = markdownIn("docs").filter((page) => page !== "docs/agents.md");
  const decisions = pages.filter((page) => page.startsWith("docs/decisions/"));
  const forContributors = [
    "CONTRIBUTING.md",
    ...pages.filter((page) => page.startsWith("docs/contributing/")),
  ];
  expect(words(forContributors)).toBeLessThanOrEqual(2_300);
  const forUsers = pages.filter((page) => !decisions.includes(page) && !forContributors.includes(page));
  expect(words(forUsers)).toBeLessThanOrEqual(21_300);
  expect(words(decisions)).toBeLessThanOrEqual(3_100);
  expect(words(["README.md"])).toBeLessThanOrEqual(600);
  const guides = [...sectionOf("docs/README.md", "Guide").matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\)/gm)];
  expect(guides.length).toBeGreaterThan(12);
  const long = guides.map(([, name]) => `docs/${name}`).filter((page) => words([page]) > 1_200);
  expect(long).toEqual([]);
});

/** Those of the names that do not stand on a page as code. */
const missingOn = (text: string, names: readonly string[]) =>
  names.filter((name) => !text.includes(`\`${name}\``) && !text.includes(`\`${name}:`));

const rules = pageOf("docs/specification.md");
const sources = (folder: string) =>
  readdirSync(join(root, "src", folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(root, "src", folder, file), "utf8"))
    .join("\n");

test("no page, example or scenario runs what the registry has under the package's name, which is not published", () => {
  const filesIn = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((one) => /\.(?:md|ya?ml|json|py|go|java|js)$/.test(one) && !/node_modules|decisions/.test(one))
      .map((name) => join(folder, name));
  const files = ["README.md", ...["docs", "examples", "scenarios"].flatMap(filesIn)];
  expect(files.length).toBeGreaterThan(55);
  const fetched =
    /npx(?:\.cmd)?"?,? "?svc-sandbox|--yes"?,? "?svc-sandbox(?!@\$VERSION)|npm install [^`\n]*(?<=\s)svc-sandbox\b|"svc-sandbox": "[^f]/g;
  expect(
    files.flatMap((file) => [...pageOf(file).matchAll(fetched)].map(([text]) => `${file}: ${text}`)),
  ).toEqual([]);
});

test("scripts/README.md has a reason for each package, and for no other", () => {
  const rows = sectionOf("scripts/README.md", "Packages").matchAll(/^\| ([^|]+) \| .*\S \|$/gm);
  const named = [...rows].flatMap(([, names = ""]) => names.split(", ")).filter((name) => name !== "package");
  expect(named.sort()).toEqual(Object.keys(project.devDependencies).sort());
});

test("docs/certify.md names the minimum of covered outcomes", () => {
  const names = ["zero", "one", "two", "three", "four", "five", "six"];
  expect(pageOf("docs/certify.md")).toContain(`must pass and cover ${names[minOutcomes]} promised outcomes`);
});

// npm reads `vendor/x.tgz` as a repository of GitHub.
test("each tarball that a page names for npm has a path that starts with a dot or a slash", () => {
  const pages = [...markdownIn("docs"), ...markdownIn("examples"), "README.md"];
  const named = pages.flatMap((page) =>
    [...pageOf(page).matchAll(/(\S*?)([\w./~-]+\.tgz)/g)].map(
      ([, before, file]) => `${page}: ${before}${file}`,
    ),
  );
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((row) => !/: \W*\.{0,2}\//.test(row))).toEqual([]);
});

test("each rule of a comparison is in docs/specification.md", () => {
  const named = [...sources("compare").matchAll(/"(R\d+)"/g)].map(([, rule]) => rule);
  expect(named).toContain("R14");
  expect(named.filter((rule) => !rules.includes(`| ${rule} |`))).toEqual([]);
});

test("docs/errors.md has one row for each code: of the API, of rejections", () => {
  const rowsOf = (heading: string) =>
    [...sectionOf("docs/errors.md", heading).matchAll(/^\| `(\w+)` \| .*\S.* \|$/gm)]
      .map(([, code]) => code)
      .sort();
  const codes = new Set((outcomes as readonly Outcome[]).flatMap(({ code }) => code ?? []));
  expect(new Set(rowsOf("Codes of the API"))).toEqual(codes);
  // Those that the code throws, not those of the table that the rows are made of.
  const thrown = [...sources("").matchAll(/(?:new SandboxError|new HttpError|super)\(\s*"(\w+)"/g)].map(
    ([, code = ""]) => code,
  );
  expect(thrown).toEqual(expect.arrayContaining(["key_limit_reached", "scenario_invalid", "foreign_host"]));
  expect(rowsOf("Errors of the sandbox")).toEqual(expect.arrayContaining(thrown));
});

test("docs/cli.md has one row for each exit code", () => {
  const rows = sectionOf("docs/cli.md", "Exit codes").matchAll(/^\| `(\d)` \|/gm);
  expect([...rows].map(([, code]) => code)).toEqual(Object.values(exitCode).map(String));
});

test("test/README.md names for each promise a test file and a case in it, and counts the hostile conversations", () => {
  const page = pageOf("test/README.md");
  const rows =
    sectionOf("test/README.md", "Promises")
      .match(/^\| .*$/gm)
      ?.slice(1) ?? [];
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const cases = [...row.matchAll(/`((?:test|src)\/[\w./-]+\.test\.ts)`: ((?:“[^”]+”(?:, )?)+)/g)];
    expect([row, cases.length]).not.toEqual([row, 0]);
    for (const [, file = "", titles = ""] of cases) {
      const text = pageOf(file);
      const starts = [...titles.matchAll(/“([^”]+)”/g)].map(([, start = ""]) => start);
      expect([file, starts.filter((one) => !text.includes(`"${one}`) && !text.includes(`\`${one}`))]).toEqual(
        [file, []],
      );
    }
  }
  const groups = Object.values(hostileGroups);
  const sum = groups.reduce((total, { count }) => total + count, 0).toLocaleString("en");
  expect(page).toContain(`${sum} conversations of ${groups.length} kinds`);
});

test("docs/library.md has each member of a sandbox, and in its tables no other", () => {
  const members: string[] = [];
  for (const [name, member] of Object.entries(createSandbox())) {
    if (typeof member === "function") members.push(name);
    else if (typeof member === "object" && name !== "assumptions") {
      members.push(...Object.keys(member).map((part) => `${name}.${part}`));
    }
  }
  expect(members).toContain("keys.rotate");

  const page = pageOf("docs/library.md");
  expect(members.filter((member) => !new RegExp(`\\b${member}\\b`).test(page))).toEqual([]);

  const tables = page.match(/^\| member \| (?:does|returns) \|(?:\n\|.*)+/gm) ?? [];
  expect(tables).toHaveLength(4);
  const firstCells = tables.flatMap((text) => text.match(/^\| `.*?(?= \| )/gm) ?? []);
  const named = firstCells.flatMap((cell) => [...cell.matchAll(/`([\w.]+)\(/g)].map(([, name = ""]) => name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !members.includes(name))).toEqual([]);
  const isInTables = (member: string) => /^(?:clock|keys|faults|requests)\./.test(member);
  expect(members.filter((member) => isInTables(member) && !named.includes(member))).toEqual([]);
});

test("docs/migrate.md names calls of the control plane that exist", () => {
  const named = [...pageOf("docs/migrate.md").matchAll(/`([A-Z]+) \/__sandbox(\/[\w/{}-]+)/g)];
  expect(named.length).toBeGreaterThan(5);
  const listed = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const unknown = named.map(([, method, path]) => `${method} ${path}`).filter((call) => !listed.has(call));
  expect(unknown).toEqual([]);
});

test("docs/images/checks.svg has the checks of a request in their order", () => {
  const texts = [...pageOf("docs/images/checks.svg").matchAll(/>([a-z ]+)<\/text>/g)].map(([, text]) => text);
  expect(texts).toEqual(requestChecks.map(({ name }) => (name === "rate limit" ? "limits" : name)));
});

test("each picture of a page has a text alternative, and each picture is on a page", () => {
  const shown = pageNames.flatMap((page) =>
    [...pageOf(page).matchAll(/!\[([^\]]*)\]\((?:docs\/)?images\/([\w.]+)\)/g)].map(
      ([, words = "", file = ""]) => ({ words, file }),
    ),
  );
  expect(shown.filter(({ words }) => words.split(" ").length < 6)).toEqual([]);
  expect(new Set(shown.map(({ file }) => file))).toEqual(new Set(readdirSync(join(root, "docs/images"))));
});

test("docs/scenarios.md names every bundled scenario", () => {
  expect(missingOn(sectionOf("docs/scenarios.md", "Bundled scenarios"), scenarioNames)).toEqual([]);
});

test("docs/scenario-reference.md names every field of timelines and stories", () => {
  const page = "docs/scenario-reference.md";
  const sections = ["Timeline fields", "Actions", "Story fields"]
    .map((title) => sectionOf(page, title))
    .join("\n");
  // The members of keys, faults and assumptions are told where those are.
  const { timeline, story } = scenarioSchema().properties;
  const fields = membersIn([timeline, story], ["limits", "faults", "assumptions"]);
  expect(fields).toContain("overlap");
  expect(fields.filter((field) => !sections.includes(`\`${field}`) && field !== "expect")).toEqual([]);
});

test("each action of a step and each state of a key has a row on its page", () => {
  const actions = sectionOf("docs/scenario-reference.md", "Actions");
  expect(actionNames.filter((name) => !actions.includes(`\n| \`${name}\` |`))).toEqual([]);
  const states = pageOf("docs/scenario-reference.md").match(/^\| `state` .*$/m)?.[0] ?? "";
  expect(keyStates.filter((state) => !states.includes(`\`${state}\``))).toEqual([]);
});

test("tarballs, wheels, jars, modules and releases in pages and examples have the version of the package", () => {
  const files = ["pytest", "junit5", "go"].flatMap((name) =>
    readdirSync(join(root, "examples", name)).map((file) => `examples/${name}/${file}`),
  );
  const examples = readdirSync(join(root, "examples")).map((name) => `examples/${name}/README.md`);
  const pages = [...pageNames, ...files, ...examples.filter((page) => existsSync(join(root, page)))];
  const named = pages.flatMap((page) =>
    [
      ...pageOf(page).matchAll(
        /svc[-_]sandbox(?:-junit5)?-(\d[\w.-]*?)(?:\.tgz|\.jar|-py3)|(?:releases\/download\/|packaging\/go[ @])v(\d[\w.-]*\d)|junit5<\/artifactId>\s*<version>([\w.-]+)/g,
      ),
    ].map(([, ...versions]) => versions.join("").replace(".dev", "-next.")),
  );
  expect([new Set(named), named.length > 8]).toEqual([new Set([project.version]), true]);
});

test("the workflows run all tests for each push, and what takes long each week, by commands that exist", () => {
  const [push, weekly] = ["test", "weekly"].map((name) => parse(pageOf(`.github/workflows/${name}.yml`)));
  expect(push.on.push.branches).toEqual(["**"]);
  // The README's command, then what that leaves out.
  const quick = "npm ci && npm test";
  expect(pageOf("README.md")).toMatch(new RegExp(`^${quick}$`, "m"));
  expect(pageOf(".ci/run")).toMatch(new RegExp(`${quick}[\\s\\S]*npm run --silent test:rest`));
  expect(push.jobs.all.steps.at(-1).run).toContain(".ci/run");
  expect(weekly.on.schedule).toHaveLength(1);
  const commands: string = weekly.jobs.run.strategy.matrix.include
    .map(({ command }: { command: string }) => command)
    .join("\n");
  expect(commands).toContain("NIGHTLY=1");
});
