import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSandbox, outcomes } from "../../src/index.js";
import { elementsOf } from "../report/xml-elements.js";
import { client, clientFolder, runExec } from "./exec-process.js";

describe("the gate", () => {
  it.each([
    ["a coverage that is reached", ["--min-coverage", "17"], ["active", "revoked", "none"], 0],
    ["a warning in a strict run", ["--strict"], ["revoked", "revoked"], 0],
    ["an error, and nobody asked", [], ["?active"], 0],
  ])("%s", async (_name, argv, words, expected) => {
    const { code, stderr } = await runExec([...argv, "--", ...client(...words)]);
    expect([code, stderr]).toEqual([expected, expect.stringMatching(/Coverage \d+ %/)]);
  });

  it("says why it is not held, also when nothing else is said", async () => {
    const argv = ["--quiet", "--min-coverage", "90", "--strict", "--", ...client("?active")];
    expect(await runExec(argv)).toMatchObject({
      code: 1,
      stderr:
        "The coverage is 5 %, and 90 % is asked for: 16 of 17 promised paths were not met.\n" +
        "There is advice of the level error, and none is asked for: key-in-query.\n",
    });
  });

  it("can stand in variables", async () => {
    const env = { SVC_SANDBOX_MIN_COVERAGE: "90", SVC_SANDBOX_REPORT: "there.json", SVC_SANDBOX_QUIET: "1" };
    const cwd = clientFolder();
    const { code, stderr } = await runExec(["--", ...client("active")], { cwd, env });
    expect([code, stderr.trimEnd().split("\n")]).toEqual([1, [expect.stringContaining("90 % is asked for")]]);
    expect(JSON.parse(readFileSync(join(cwd, "there.json"), "utf8")).requests).toBe(1);
  });
});

describe("--report", () => {
  it("writes every format that a name ends with, and one line says where", async () => {
    const cwd = clientFolder();
    const files = ["a.json", "deep/er/b.md", "c.XML", "d.txt"];
    const argv = [...files.flatMap((file) => ["--report", file]), "--min-coverage", "90"];
    const { code, stdout, stderr } = await runExec([...argv, "--", ...client("active", "?revoked")], { cwd });
    expect([code, stdout.length, stderr]).toEqual([
      1,
      0,
      "Coverage 11 %: 2 of 17 promised paths met. Advice: 1 error. " +
        'The report is in "a.json", "deep/er/b.md", "c.XML" and "d.txt".\n' +
        "The coverage is 11 %, and 90 % is asked for: 15 of 17 promised paths were not met.\n",
    ]);
    const [json = "", markdown, xml = "", text] = files.map((file) => readFileSync(join(cwd, file), "utf8"));
    expect(JSON.parse(json)).toMatchObject({
      requests: 2,
      coverage: { met: 2 },
      failures: [expect.any(String)],
    });
    expect(markdown).toMatch(/^# Coverage 11 %[\s\S]*\n\| path \|.*\n\|---\|/);
    const cases = elementsOf(xml).filter(({ attributes }) => attributes.classname?.endsWith(".paths"));
    expect(cases).toHaveLength(outcomes.filter(({ promised }) => promised).length);
    expect(text).toMatch(/^2 requests to key-states/);
  });

  it("is written as --format says, whatever the name; without a file that is for stderr", async () => {
    const cwd = clientFolder();
    const argv = ["--format", "junit", "--quiet", "--report", "summary"];
    await runExec([...argv, "--", ...client("active")], { cwd });
    expect(elementsOf(readFileSync(join(cwd, "summary"), "utf8")).length).toBeGreaterThan(17);
    const { stderr } = await runExec(["--format", "json", "--min-coverage", "0", "--", ...client("active")]);
    expect(JSON.parse(stderr)).toMatchObject({ requests: 1 });
  });

  it("holds no key, wherever the client put it", async () => {
    const cwd = clientFolder();
    const files = ["a.json", "a.md", "a.xml", "a.txt"];
    const refs = Object.values(createSandbox().keys.list()).map(({ ref }) => ref);
    const words = refs.flatMap((ref) => [ref, `?${ref}`]);
    await runExec([...files.flatMap((file) => ["--report", file]), "--", ...client(...words)], { cwd });
    const { stderr } = await runExec(["--", ...client(...words)], { cwd });
    const texts = [stderr, ...files.map((file) => readFileSync(join(cwd, file), "utf8"))];
    for (const secret of refs.map((ref) => createSandbox().secret(ref as "active"))) {
      for (const text of texts) expect(text).not.toContain(secret);
    }
  });

  it("is not printed with a key that stands where the command should", async () => {
    const { code, stderr } = await runExec(["--", createSandbox().secret("active")]);
    expect([code, stderr]).toEqual([127, expect.stringContaining('Failed to run "SVC_test_…"')]);
  });

  it("that cannot be written is on stderr, and the code is 2 unless the command's own says more", async () => {
    const cwd = clientFolder();
    mkdirSync(join(cwd, "folder.md"));
    const run = (word: string) =>
      runExec(["--report", "folder.md", "--", ...client("active", word)], { cwd });
    const { code, stderr } = await run("active");
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^\n2 requests to key-states/)]);
    expect(stderr).toMatch(
      /\nFailed to write the report to "folder\.md": it is a directory\. .*--report\.\n$/,
    );
    expect((await run("exit:3")).code).toBe(3);
  });

  it.skipIf(process.platform === "win32")(
    "is not waited for when it is a pipe that nobody reads",
    async () => {
      const cwd = clientFolder();
      execFileSync("mkfifo", [join(cwd, "pipe.md")]);
      const { code, stderr } = await runExec(["--report", "pipe.md", "--", ...client("active")], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining("it is a pipe that has no reader")]);
    },
  );

  it.skipIf(process.platform !== "linux")("is not tried for ever where no folder can be made", async () => {
    const argv = ["--report", "/proc/nope/deep/x.md", "--", ...client("active")];
    const { code, stderr } = await runExec(argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining("its folder does not exist")]);
  });

  it("has lines that trust the certificate that the command was given", async () => {
    const { stderr } = await runExec(["--tls", "--", ...client("active")]);
    expect(stderr).toContain('curl --cacert "$SVC_CA_FILE" -H "x-api-key: $SVC_KEY_REVOKED"');
  });
});
