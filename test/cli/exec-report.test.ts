import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox } from "../../src/index.js";
import { elementsOf } from "../report/xml-elements.js";
import { coverage, coverageText, promisedCount } from "../support/coverage.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { client, clientFolder, execHere } from "./exec-client.js";

describe("the gate", () => {
  it.each([
    [
      "a coverage that is reached",
      ["--min-coverage", String(coverage(3).percent)],
      ["active", "revoked", "none"],
      0,
    ],
    ["a warning where errors count", ["--fail-on", "error"], ["active", "/v1/me"], 0],
    ["a warning where warnings count", ["--fail-on", "warning"], ["active", "/v1/me"], 5],
    ["a note where warnings count", ["--fail-on", "warning"], Array(9).fill("revoked"), 0],
    ["no request, and so a coverage that is not reached", ["--min-coverage", "50"], [], 4],
    ["a coverage that is not reached, and a command's own code", ["--min-coverage", "50"], ["exit:3"], 3],
  ])("%s", async (_name, argv, words, expected) => {
    const { code, stderr } = await execHere([...argv, "--", ...client(...words)]);
    expect([code, stderr]).toEqual([expected, expect.stringMatching(/Coverage \d+%/)]);
  });
});

it.each(["-X POST $SVC_BASE_URL/v1/relying-party/me", "$SVC_BASE_URL/v1/me"])(
  "a request that no endpoint takes is none: %s",
  async (request) => {
    expect((await execHere(["--", "sh", "-c", `curl -s -o answer ${request}`])).code).toBe(4);
  },
);

it("a client that covers everything gets the command of certify, as typed", async () => {
  const code = `const { SVC_BASE_URL, SVC_API_KEY, ...others } = process.env;
const keys = Object.keys(others).flatMap((name) => (name.startsWith("SVC_KEY_") ? others[name] : []));
for (const key of [...keys, "", "malformed", SVC_API_KEY.slice(0, -2) + "00", others.SVC_KEY_REVOKED])
  await fetch(SVC_BASE_URL + "/v1/relying-party/me", { headers: key ? { "x-api-key": key } : {} });`;
  const cwd = temporaryFolder({ "all.mjs": code, "my keys.yaml": "version: 1\nextends: key-states\n" });
  const word = "long".repeat(100);
  const { stderr } = await execHere(["my keys.yaml", "--", process.execPath, "all.mjs", word], { cwd });
  const command = `-- ${process.execPath} all.mjs ${word}`;
  expect(stderr).toContain(` Next: svc-sandbox certify 'my keys.yaml' ${command}\n`);
  expect(stderr).toContain(`\`svc-sandbox certify 'my keys.yaml' --only resend ${command}\``);
});

it.each([
  ["active", true],
  ["revoked", false],
])("warns of a --fault that hit no request: a client with %s", async (word, isWarned) => {
  const { stderr } = await execHere(["--fault", "fault.status@401.revoked", "--", ...client(word)]);
  expect(stderr.includes("--fault fault.status@401.revoked hit no request")).toBe(isWarned);
});

describe("--report", () => {
  const unwritten = async (file: string, cwd = clientFolder(), word = "active") => {
    const { code, stderr } = await execHere(["--report", file, "--", ...client("active", word)], { cwd });
    expect(stderr).toMatch(/\n2 requests to key-states/);
    return [code, stderr.split("\n")[0]];
  };

  it("writes every format that a name ends with, and one line shows where", async () => {
    const cwd = clientFolder({ "deep/er/a": "" });
    const files = ["a.json", "deep/er/b.md", "c.XML", "d.txt"];
    const argv = [...files.flatMap((file) => ["--report", file]), "--min-coverage", "90"];
    const { code, stdout, stderr } = await execHere([...argv, "--", ...client("active", "?revoked")], {
      cwd,
    });
    expect([code, stdout]).toEqual([5, ""]);
    expect(stderr.split("\n")[0]).toBe(
      `${coverageText(1)}. Advice: 1 error. ` +
        'The report is in "a.json", "deep/er/b.md", "c.XML" and "d.txt".',
    );
    const [json = "", markdown, xml = "", text] = files.map((file) => readFileSync(join(cwd, file), "utf8"));
    const report = { requests: 2, coverage: { covered: 1 }, failures: [expect.any(String)] };
    expect(JSON.parse(json)).toMatchObject(report);
    expect(markdown).toMatch(/^# Coverage \d+%[\s\S]*\n\| outcome \|.*\n\|---\|/);
    const cases = elementsOf(xml).filter(({ attributes }) => attributes.classname?.endsWith(".outcomes"));
    expect(cases).toHaveLength(promisedCount);
    expect(text).toMatch(/^2 requests to key-states/);
  });

  it("is written in the format of --format, with any name; without a file on stderr", async () => {
    const cwd = clientFolder();
    const argv = ["--format", "junit", "--quiet", "--report", "summary"];
    await execHere([...argv, "--", ...client("active")], { cwd });
    expect(elementsOf(readFileSync(join(cwd, "summary"), "utf8")).length).toBeGreaterThan(promisedCount);
    const { stderr } = await execHere(["--format", "json", "--min-coverage", "0", "--", ...client("active")]);
    expect(JSON.parse(stderr)).toMatchObject({ requests: 1 });
  });

  it("is Markdown in a file without an ending, such as the summary of a job on GitHub, which gets annotations", async () => {
    const cwd = clientFolder();
    const env = { GITHUB_ACTIONS: "true" };
    const argv = ["--report", "summary", "--", ...client("active", "?active")];
    const { stderr } = await execHere(argv, { cwd, env });
    expect(readFileSync(join(cwd, "summary"), "utf8")).toMatch(new RegExp(`^# ${coverageText(1)}`));
    expect(stderr).toMatch(/^::error title=svc-sandbox key-in-query::1 request: /m);
  });

  it("R46 contains no key of the command line", async () => {
    const secret = createSandbox().secret("active");
    const { code, stderr } = await execHere(["--", secret]);
    expect([code, stderr]).toEqual([127, expect.stringContaining('"SVC_test_…"')]);
    expect(stderr).not.toContain(secret);
  });

  it("R46 contains no key of a scenario's name or of a path, in any file", async () => {
    const [end, reports] = ["0".repeat(29), ["a.json", "b.md", "c.xml", "d.txt"]];
    const scenario = `SVC_test_sbx${end}.yaml`;
    const cwd = clientFolder({ [scenario]: "version: 1\nextends: key-states\n" });
    const argv = [scenario, ...reports.flatMap((file) => ["--report", file])];
    const { code, stderr } = await execHere([...argv, "--", ...client(`/SVC_test_sbx${end}/me`)], { cwd });
    expect([code, stderr]).toEqual([4, expect.stringContaining("GET /SVC_test_…/me")]);
    for (const text of [stderr, ...reports.map((file) => readFileSync(join(cwd, file), "utf8"))]) {
      expect(text).toContain("SVC_test");
      expect(text).not.toContain(end);
    }
  });

  it("gets the folder in its name", async () => {
    const cwd = clientFolder();
    expect((await execHere(["--report", "out/report.md", "--", ...client("active")], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, "out/report.md"), "utf8")).toMatch(/^# Coverage /);
  });

  it("into a folder is an error before the command starts", async () => {
    const cwd = clientFolder();
    mkdirSync(join(cwd, "folder.md"));
    const { code, stderr } = await execHere(["--report", "folder.md", "--", ...client("exit:3")], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Failed to write the report to "folder\.md": it is a directory\./);
  });

  it.skipIf(process.platform !== "linux")(
    "that cannot be written is on stderr, and not waited for, with code 2 unless the command failed",
    async () => {
      const cwd = clientFolder();
      execFileSync("mkfifo", [join(cwd, "pipe.md")]);
      const hasNoReader = expect.stringContaining("ENXIO");
      expect(await unwritten("pipe.md", cwd)).toEqual([2, hasNoReader]);
      const fails = ["--report", "pipe.md", "--", ...client("exit:3")];
      expect((await execHere(fails, { cwd })).code).toBe(3);
    },
  );

  it.skipIf(process.platform !== "linux")(
    "that cannot be written leaves JSON as the last lines of stderr, behind the reason",
    async () => {
      const cwd = clientFolder();
      execFileSync("mkfifo", [join(cwd, "pipe.json")]);
      const argv = ["--format", "json", "--report", "pipe.json", "--", ...client("active")];
      const { stderr } = await execHere(argv, { cwd });
      const [, reason = "", json = ""] = /^(.*\n)(\{[\s\S]*)$/.exec(stderr) ?? [];
      expect(JSON.parse(reason)).toMatchObject({ error: { code: "usage" } });
      expect(JSON.parse(json)).toMatchObject({ requests: 1 });
    },
  );

  it("has lines that trust the certificate that the command was given", async () => {
    const { stderr } = await execHere(["--tls", "--format", "json", "--", ...client("active")]);
    const live = JSON.parse(stderr).outcomes.find(
      ({ outcome }: { outcome: string }) => outcome === "200.live",
    );
    expect(live.how_to_cover.curl).toContain('curl --cacert "$SVC_CA_FILE" -H "x-api-key: $SVC_KEY_LIVE"');
  });
});

it("a package.json that cannot be read changes nothing", async () => {
  const cwd = clientFolder();
  mkdirSync(join(cwd, "package.json"));
  const { code, stderr } = await execHere(["--", ...client("active", "exit:7")], { cwd });
  expect([code, stderr]).toEqual([7, expect.stringMatching(/^\n1 request to key-states/)]);
});

it.runIf(existsSync("/dev/shm"))("a report in /dev/shm is a file: created, and then replaced", async () => {
  const folder = mkdtempSync("/dev/shm/svc-sandbox-test-");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "report.json");
  for (let run = 1; run <= 2; run += 1) {
    expect((await execHere(["--report", file, "--", ...client("active")])).code).toBe(0);
    expect(JSON.parse(readFileSync(file, "utf8")).requests).toBe(1);
  }
});
