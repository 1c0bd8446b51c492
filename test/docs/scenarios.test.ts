import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseScenario, type Sandbox } from "../../src/index.js";
import { resolveAssumptions } from "../../src/rules/assumptions.js";
import { openSandbox } from "../support/doors.js";
import { blocksOf, blockWith, membersIn, pageNames, scenarioSchema, sectionOf } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The scenarios of the pages are valid, and do what the pages say of them.

/** The YAML of a section of docs/scenarios.md. */
const exampleOf = (section: string) =>
  /^```yaml\n([\s\S]*?)^```$/m.exec(sectionOf("docs/scenarios.md", section))?.[1] ?? "";

/** Runs `verify` with a scenario; expects that its story has the steps of the text, and goes as it says. */
async function expectStory(yaml: string): Promise<void> {
  const [, written = ""] = /^story:\n((?:[ \n].*\n?)*)/m.exec(yaml) ?? [];
  expect(parseScenario(yaml).story).toHaveLength(written.match(/^ {2}- /gm)?.length ?? 0);
  const { code, stdout, stderr } = await runCli(["verify", "mine.yaml"], {
    cwd: temporaryFolder({ "mine.yaml": yaml }),
  });
  expect(code, stdout + stderr).toBe(0);
}

const whole = pageNames
  .flatMap(blocksOf)
  .filter(({ language, text }) => language === "yaml" && /^version: 1$/m.test(text));

test.each(whole.map(({ title, text }) => [title, text]))("%s: is a scenario", (_title, yaml) =>
  expect(() => parseScenario(yaml as string)).not.toThrow(),
);

test("the scenarios of the README and of docs/specification.md have the keys and assumptions of the pages", () => {
  const keys = openSandbox(parseScenario(blockWith("README.md", "yaml"))).keys.list();
  expect(keys.map(({ ref }) => ref)).toEqual(["main", "ends-soon"]);
  const { assumptions } = parseScenario(blockWith("docs/specification.md", "yaml"));
  expect(assumptions).toEqual({ profile: "typical", rate_limit_code: "too_many_requests" });
});

/** The outcomes on which requests with these keys end. */
async function pathsOf(sandbox: Sandbox, ...refs: string[]): Promise<string[]> {
  for (const ref of refs) {
    const headers = { "x-api-key": sandbox.secret(ref) };
    await sandbox.fetch("https://any.example/v1/relying-party/me", { headers });
  }
  return sandbox.requests.list({ limit: refs.length }).map(({ outcome }) => outcome ?? "");
}

test("each action of the timeline in docs/scenarios.md happens at its own instant", async () => {
  const sandbox = openSandbox(parseScenario(exampleOf("Timeline")));
  const begin = Date.parse("2026-03-02T09:00:00Z");
  const at = (minutes: number, ...refs: string[]) => {
    sandbox.clock.set(begin + minutes * 60_000);
    return pathsOf(sandbox, ...refs);
  };
  expect(await at(9, "main")).toEqual(["200.test"]);
  expect(await at(10, "main", "main-2")).toEqual(["200.retiring", "200.replacement"]);
  expect(await at(39, "main")).toEqual(["200.retiring"]);
  expect(await at(40, "main")).toEqual(["401.rotated"]);
  expect(await at(119, "loans")).toEqual(["200.live"]);
  expect(await at(120, "loans")).toEqual(["403.live_suspended"]);
  expect(await at(3 * 1440 - 1, "loans")).toEqual(["403.live_suspended"]);
  expect(await at(3 * 1440, "loans")).toEqual(["200.live"]);
});

test("the nulls of docs/scenario-reference.md remove an inherited endpoint and body, and send JSON's null without one", () => {
  const page = sectionOf("docs/scenario-reference.md", "Endpoint fields");
  const load = () => ({ text: exampleOf("Endpoints"), file: "page.yaml" });
  const { listConsents, createConsent, readConsent } = parseScenario(exampleOf("Endpoints")).endpoints ?? {};
  const removing = ["listConsents: null", "readConsent: { body: null }"];
  for (const written of removing) expect(page).toContain(`\`${written}\``);
  const below = ["version: 1", "extends: page.yaml", "endpoints:", ...removing.map((line) => `  ${line}`)];
  const { body: _, ...bodiless } = readConsent ?? { path: "" };
  expect(listConsents).toBeDefined();
  expect(parseScenario(below.join("\n"), { load }).endpoints).toEqual({
    createConsent,
    readConsent: bodiless,
  });
  const plain = "organizations: { bank: { type: bank } }\nendpoints: { a: { path: /a, body: null } }\n";
  expect(parseScenario(`version: 1\n${plain}`).endpoints?.a?.body).toBeNull();
});

test("the story of docs/stories.md passes", async () => {
  await expectStory(blockWith("docs/stories.md", "yaml", "story:"));
});

/** The file that `init` writes. */
async function starter(): Promise<string> {
  const cwd = temporaryFolder();
  await runCli(["init"], { cwd });
  return readFileSync(join(cwd, "svc-sandbox.yaml"), "utf8");
}

test("the file of `init` is valid, shows every field of the format that people write, and names the schema", async () => {
  const yaml = await starter();
  expect(Object.keys(parseScenario(yaml).organizations ?? {})).toEqual(["harvest-bank"]);
  expect(yaml).toMatch(/^# yaml-language-server: \$schema=\.\/svc-sandbox\.schema\.json\n/);
  // What it set itself would hold in every profile.
  expect(parseScenario(yaml)).not.toHaveProperty("assumptions");
  // The faults that a sandbox lists have it.
  const fields = membersIn(scenarioSchema()).filter((field) => field !== "requests_matched");
  expect(fields.filter((field) => !new RegExp(`\\b${field}:`).test(yaml))).toEqual([]);
});

test("the commented lines in the file of `init` are valid, and their story passes", async () => {
  const yaml = (await starter())
    .split("\n\n")
    .map((block) => {
      const begins = block.search(/^(?:# )?[a-z]+:$/m);
      return begins === -1 ? block : block.slice(0, begins) + block.slice(begins).replace(/^# /gm, "");
    })
    .join("\n\n");
  const scenario = parseScenario(yaml);
  const fields = Object.keys(scenarioSchema().properties ?? {});
  expect(fields).toContain("endpoints");
  // Another scenario has other keys.
  expect(fields.filter((field) => field !== "extends" && !(field in scenario))).toEqual([]);
  const { assumptions, faults, timeline, population } = scenario;
  const { profile = "minimal", ...shown } = assumptions ?? {};
  expect(shown).toEqual(resolveAssumptions(profile));
  expect([faults?.length, timeline?.length, population?.organizations]).toEqual([4, 3, 200]);
  // Its faults are met by some requests and not by others; the story is about keys.
  await expectStory(`${yaml}\n`.replace(/^faults:\n(?:[ -].*\n|\n(?=[ -]))+/m, "faults: []\n"));
});
