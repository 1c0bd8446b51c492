import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { scenarioNames } from "../../src/scenario/bundled.js";
import { runCli, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A scenario of one organization with these keys. */
function scenario(keys: string, more = ""): string {
  return `version: 1\n${more}organizations:\n  a-bank:\n    name: A Bank\n    type: bank\n    keys:\n${keys}`;
}

const good = scenario("      only: { environment: test }\n");

describe("svc-sandbox list", () => {
  it("names every bundled scenario with one line on what it shows", async () => {
    const { code, stdout, stderr } = await runCli(["list"]);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => line.split(" ")[0])).toEqual([...scenarioNames]);
    for (const line of lines) expect(line).toMatch(/^(?=.{1,80}$)[a-z-]+ {2,}\S.*[.!?]$/);
  });

  it("gives name, title and description with --json", async () => {
    const rows = JSON.parse((await runCli(["list", "--json"])).stdout);
    expect(rows.map(({ name }: { name: string }) => name)).toEqual([...scenarioNames]);
    const description = expect.stringMatching(/\.$/);
    expect(rows).toContainEqual({ name: "key-states", title: "Key states", description });
  });
});

describe("svc-sandbox show", () => {
  it("prints a bundled scenario as it is in its file", async () => {
    const file = join(import.meta.dirname, "../../scenarios/rotation.yaml");
    expect(await runCli(["show", "rotation"])).toMatchObject({ code: 0, stdout: readFileSync(file, "utf8") });
  });

  it("prints a file, also one that could not be served", async () => {
    const cwd = temporaryFolder({ "draft.yaml": "version: 1 # and nothing else" });
    expect((await runCli(["show", "draft.yaml"], { cwd })).stdout).toBe("version: 1 # and nothing else\n");
  });

  it("does not cut a file that is larger than a scenario can be", async () => {
    const cwd = temporaryFolder({
      "whole.yaml": "#".repeat(2 ** 20),
      "large.yaml": "😀".repeat(2 ** 18 + 1),
    });
    expect(await runCli(["show", "whole.yaml"], { cwd })).toMatchObject({ code: 0, stderr: "" });
    const large = await runCli(["show", "large.yaml"], { cwd });
    expect(large).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("1 MiB") });
    const { stderr } = await runCli(["validate", "large.yaml"], { cwd });
    expect(stderr).toContain("1 MiB");
  });
});

describe("a scenario of the user's own", () => {
  const broken = good.replace("test", "tset");

  it("is svc-sandbox.yml as well by default", async () => {
    const cwd = temporaryFolder({ "svc-sandbox.yml": good });
    expect(await runCli(["validate"], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok {2}svc-sandbox\.yml /),
    });
    expect((await runCli(["keys"], { cwd })).stdout).toContain("only");
  });

  it("is read from stdin for -, with the places of its problems", async () => {
    const cwd = temporaryFolder();
    expect(await runCli(["validate", "-"], { cwd, input: good })).toMatchObject({ code: 0, stderr: "" });
    const { code, stderr } = await runCli(["validate", "-"], { cwd, input: broken });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^-:7:28: environment must be test or live/)]);
    const failing = `${good}story:\n  - request: { key: only }\n    expect: { status: 403 }\n`;
    expect((await runCli(["validate", "-"], { cwd, input: failing })).stderr).toMatch(/^-:10:\d+: /);
    const running = startCli(["-", "--port", "0", "--watch"], { cwd, input: good });
    await running.stdout.shows(/only {2}/);
    await running.stderr.shows(/^Nothing to watch: - is in no file here\./);
  });
});

describe("svc-sandbox init", () => {
  it("writes a scenario whose story verify proves, with the words that name it", async () => {
    const cwd = temporaryFolder();
    const { stderr } = await runCli(["init", "rotation.yaml"], { cwd });
    const [, name = ""] =
      /^Wrote rotation\.yaml, with .* Start it with: svc-sandbox (\S+) --watch\n$/.exec(stderr) ?? [];
    const { code, stdout } = await runCli(["verify", name], { cwd });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/: 3 steps, 3 expectations, all passed /)]);
  });

  it("does not overwrite a file without --force", async () => {
    const cwd = temporaryFolder({ "mine.yaml": good });
    const rejected = await runCli(["init", "mine.yaml"], { cwd });
    expect(rejected.code).toBe(2);
    expect(rejected.stderr).toMatch(/^"mine\.yaml" already exists and is unchanged\. .*--force.*\n$/);
    expect(readFileSync(join(cwd, "mine.yaml"), "utf8")).toBe(good);
    expect((await runCli(["init", "mine.yaml", "--force", "--quiet"], { cwd })).stderr).toBe("");
    expect(readFileSync(join(cwd, "mine.yaml"), "utf8")).not.toBe(good);
  });

  it.skipIf(process.platform === "win32")("keeps the mode of a file that it replaces", async () => {
    const cwd = temporaryFolder({ "mine.yaml": good });
    chmodSync(join(cwd, "mine.yaml"), 0o640);
    await runCli(["init", "mine.yaml", "--force"], { cwd });
    expect(statSync(join(cwd, "mine.yaml")).mode & 0o777).toBe(0o640);
  });

  it("names a schema that needs no network: the installed one, or a copy next to the file", async () => {
    const installed = "node_modules/svc-sandbox/dist/scenario.schema.json";
    const cwd = temporaryFolder({ "with/deep/a": "", [`with/${installed}`]: "{}", "without/a.yaml": "" });
    const written = async (file: string) => {
      expect((await runCli(["init", file, "--force"], { cwd })).code).toBe(0);
      const [, path = ""] =
        /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(join(cwd, file), "utf8")) ?? [];
      return [path, existsSync(join(cwd, dirname(file), path))];
    };
    expect(await written("with/a.yaml")).toEqual([`./${installed}`, true]);
    expect(await written("with/deep/a.yaml")).toEqual([`../${installed}`, true]);
    expect(await written("without/a.yaml")).toEqual(["./svc-sandbox.schema.json", true]);
    const copy = readFileSync(join(cwd, "without/svc-sandbox.schema.json"), "utf8");
    expect(copy).toBe((await runCli(["schema"])).stdout);
    expect(existsSync(join(cwd, "with/svc-sandbox.schema.json"))).toBe(false);
    // Without --force, an existing copy stays.
    const own = temporaryFolder({ "svc-sandbox.schema.json": "{}" });
    await runCli(["init"], { cwd: own });
    expect(readFileSync(join(own, "svc-sandbox.schema.json"), "utf8")).toBe("{}");
  });

  it.each(["svc-sandbox.yaml", "folder/a.yaml"])(
    "names the schema if it cannot be written, next to %s",
    async (name) => {
      const schema = join(dirname(name), "svc-sandbox.schema.json");
      const cwd = temporaryFolder({ [`${schema}/a`]: "" });
      const { code, stderr } = await runCli(["init", name, "--force"], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^Failed to write .*: EISDIR/)]);
      expect(stderr).toContain(JSON.stringify(schema));
    },
  );
});

describe("svc-sandbox validate", () => {
  it("names good files on stdout, and shows every problem of the others on stderr", async () => {
    const cwd = temporaryFolder({
      "good.yaml": good,
      "typo.yaml": scenario("      only: { enviroment: test }\n"),
      "two.yaml": scenario("      Only: { environment: test, state: gone }\n"),
    });
    const files = ["good.yaml", "typo.yaml", "two.yaml"];
    const { code, stdout, stderr } = await runCli(["validate", ...files], { cwd });
    expect([code, stdout]).toEqual([1, "ok  good.yaml  1 organization, 1 key\n"]);
    expect(stderr).toMatch(/^typo\.yaml:\d+:\d+: .*enviroment/m);
    expect(stderr).toMatch(/hint: .*environment/);
    expect(stderr).toMatch(/^two\.yaml: 2 problems$/m);
  });

  it("prints the same for machines with --json", async () => {
    const cwd = temporaryFolder({ "good.yaml": good, "list.yaml": "- 1\n" });
    const argv = ["validate", "good.yaml", "list.yaml", "gone.yaml", "--json"];
    const { code, stdout, stderr } = await runCli(argv, { cwd });
    expect([code, stderr]).toEqual([2, ""]);
    expect(JSON.parse(stdout)).toMatchObject([
      { file: "good.yaml", ok: true, problems: [] },
      { file: "list.yaml", ok: false, problems: [{ code: "not_a_mapping", line: 1, column: 1 }] },
      { file: "gone.yaml", ok: false, problems: [{ code: "scenario_not_found" }] },
    ]);
  });
});

describe("a scenario that cannot be used", () => {
  it("R32 fails validate with 1 and start with 2", async () => {
    const six = Array.from({ length: 6 }, (_, i) => `      k${i}: { environment: test }\n`).join("");
    const cwd = temporaryFolder({ "a.yaml": scenario(six) });
    const hasPlace = expect.stringMatching(/a\.yaml:\d+:\d+: [\s\S]*R32/);
    expect(await runCli(["validate", "a.yaml"], { cwd })).toEqual({ code: 1, stdout: "", stderr: hasPlace });
    expect(await runCli(["a.yaml", "--port", "0"], { cwd })).toEqual({
      code: 2,
      stdout: "",
      stderr: hasPlace,
    });
  });

  it("that is a directory or unreadable gets a message", async () => {
    const cwd = temporaryFolder({ "secret.yaml": good });
    mkdirSync(join(cwd, "folder.yaml"));
    const folder = await runCli(["folder.yaml"], { cwd });
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining("EISDIR") });
    chmodSync(join(cwd, "secret.yaml"), 0);
    // The superuser may read everything, so there is nothing to see then.
    if (process.getuid?.() === 0) return;
    const unreadable = await runCli(["secret.yaml"], { cwd });
    expect([unreadable.code, unreadable.stderr]).toEqual([2, expect.stringContaining("EACCES")]);
  });
});

describe("a first word that is neither a command nor a scenario", () => {
  it("is not shown when it is a key (R46)", async () => {
    const { code, stderr } = await runCli(["SVC_test_0123456789abcdef"], { cwd: temporaryFolder() });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^"SVC_test_…" is not a command/);
    expect(stderr).not.toContain("0123");
  });
});
