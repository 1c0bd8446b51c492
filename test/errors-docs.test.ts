import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { outcomeOf, outcomes, type PathId } from "../src/domain/outcomes.js";
import { startServer } from "../src/node/server/start-server.js";
import { pathProse } from "./support/error-prose.js";
import { curlLine, pathSections, pathTable, readable } from "./support/error-reference.js";
import { runCli } from "./support/run-cli.js";
import { type Ended, runCommand } from "./support/running-command.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const folder = join(import.meta.dirname, "../docs");
const file = join(folder, "errors.md");
const text = () => readFileSync(file, "utf8");

const between = (page: string, mark: string, generated: string) =>
  page.replace(
    new RegExp(`(<!-- ${mark} -->\n)[\\s\\S]*?(<!-- /${mark} -->)`),
    (_all, start: string, end: string) => `${start}\n${generated}\n\n${end}`,
  );

test("docs/errors.md says of each path what the sandbox does (UPDATE=1 rewrites it)", () => {
  const written = between(between(text(), "table", pathTable()), "paths", pathSections());
  if (process.env.UPDATE) writeFileSync(file, written);
  expect(text()).toBe(written);
});

test("the rules that it names are rules, and its links lead somewhere", () => {
  const rules = readFileSync(join(folder, "rules.md"), "utf8");
  const named = new Set(Object.values(pathProse).flatMap((prose) => prose.rules));
  expect([...named].filter((rule) => !rules.includes(`| ${rule} |`))).toEqual([]);
  expect(outcomes.filter(({ path, promised }) => promised && pathProse[path].rules.length === 0)).toEqual([]);
  for (const [, target = ""] of text().matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
    expect([target, existsSync(join(folder, target))]).toEqual([target, true]);
  }
  const headings = new Set([...text().matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => anchorOf(title)));
  for (const [, anchor = ""] of text().matchAll(/\]\(#([^)]*)\)/g)) expect(headings).toContain(anchor);
});

// As the hosts of Markdown make them: small letters, no punctuation, hyphens for spaces.
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

interface Curled extends Ended {
  /** Where the sandbox says that the request ended. */
  readonly paths: readonly (string | null)[];
}

/** Runs a curl line of the page, word by word; that its port leads to another one is said in curl's own settings. */
async function runCurl(path: PathId): Promise<Curled> {
  const { scenario } = pathProse[path];
  const server = await startServer({ scenario, frozen: true });
  const settings = [`connect-to = "127.0.0.1:4747:127.0.0.1:${new URL(server.url).port}"`, 'noproxy = "*"'];
  const cwd = temporaryFolder({ ".curlrc": settings.join("\n") });
  const { stdout } = await runCli(["keys", scenario, "--format", "env"]);
  const keys = Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split("=", 2) as [string, string]),
  );
  const line = text()
    .split("\n")
    .find((one) => one === curlLine(path));
  const ended = await runCommand(line ?? "false", { cwd, env: { ...keys, CURL_HOME: cwd } }).ended;
  const paths = server.sandbox.requests.list().flatMap(({ pathId, fault }) => [pathId, fault]);
  await server.close(0);
  return { ...ended, paths };
}

/** With what curl ends when a fault leaves it without a whole answer. */
const curlFailures: Partial<Record<PathId, number>> = {
  "fault.reset": 56,
  "fault.hang": 28,
  "fault.truncate": 18,
};

describe.concurrent("the curl line of each path ends on it, with the answer that the page shows", () => {
  test.each(outcomes.map(({ path }) => path))("%s", { timeout: 30_000 }, async (path) => {
    const { code, stdout, paths } = await runCurl(path);
    expect(paths).toHaveLength(2);
    expect(paths).toContain(path);
    expect(code).toBe(curlFailures[path] ?? 0);
    const [, section = ""] = text().split(`### \`${path}\`\n`);
    const [, status, body] =
      /```http\nHTTP\/1\.1 (\d+) [\s\S]*?\n\n([\s\S]*?)\n```/.exec(section.split("\n### ")[0] ?? "") ?? [];
    expect(/^HTTP\/1\.1 (\d+)/.exec(stdout)?.[1]).toBe(status);
    expect(bodyIn(stdout)).toBe(body ?? "");
    if (outcomeOf(path).status !== 0) expect(Number(status)).toBe(outcomeOf(path).status);
  });
});

function bodyIn(stdout: string): string {
  return readable(stdout.split("\r\n\r\n").slice(1).join("\r\n\r\n"));
}
