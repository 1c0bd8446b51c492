import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { control } from "../support/call-control.js";
import { baseUrl, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const sandbox = (keys: readonly string[], more = "") =>
  `version: 1\n${more}organizations: { a-bank: { name: A Bank, type: bank, keys: { ${keys.map((ref) => `${ref}: { environment: test }`).join(", ")} } } }\n`;

async function watch(files: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  const cwd = temporaryFolder(files);
  const running = startCli(["a.yaml", "--watch", "--port", "0", ...flags], { cwd });
  const url = await baseUrl(running);
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  return { cwd, running, url, write };
}

const serves = (url: string, refs: readonly string[]) => expect.poll(() => keysServed(url)).toEqual(refs);

async function keysServed(url: string): Promise<string[]> {
  const { body } = await control(`${url}/__sandbox`, "GET /keys");
  return body.data.map(({ ref }: { ref: string }) => ref);
}

/** The text of the scenario after it is started again by its name. */
async function textOfAnotherStart(url: string): Promise<string> {
  await control(`${url}/__sandbox`, "PUT /scenario", { name: "a.yaml" });
  return (await fetch(`${url}/__sandbox/scenario`)).text();
}

describe("--watch", () => {
  it("replaces the old scenario by a changed one", async () => {
    const { running, url, write } = await watch({ "a.yaml": sandbox(["one", "two"]) });
    write("a.yaml", sandbox(["two", "three"]));
    await running.stderr.shows(/Loaded a\.yaml again, in a new sandbox\.\n/);
    expect(await keysServed(url)).toEqual(["two", "three"]);
  });

  it("keeps the old sandbox if the file is broken, shows why, and uses the next valid file", async () => {
    const { running, url, write } = await watch({ "a.yaml": sandbox(["one"]) });
    write("a.yaml", "version: 1\norganizations: [\n");
    await running.stderr.shows(/a\.yaml:\d+:\d+: [\s\S]*\nThe running scenario continues\.\n/);
    expect(await keysServed(url)).toEqual(["one"]);
    write("a.yaml", sandbox(["one"]));
    await running.stderr.shows(/a\.yaml is valid again, unchanged\.\n/);
    write("a.yaml", sandbox(["one", "two"]));
    await serves(url, ["one", "two"]);
  });

  it("starts the scenario again with the comments that its file has now, although they are no change", async () => {
    const { running, url, write } = await watch({ "a.yaml": sandbox(["one"]) });
    write("a.yaml", `${sandbox(["one"])}# mine\n`);
    await expect.poll(() => textOfAnotherStart(url)).toContain("# mine\n");
    expect(running.stderr.text()).not.toContain("Loaded a.yaml again");
  });

  it("reports once that a broken file is valid again, also one that the scenario extends", async () => {
    const { running, write } = await watch({
      "a.yaml": "version: 1\nextends: ./base.yaml\n",
      "base.yaml": sandbox(["one"]),
    });
    write("base.yaml", "version: [");
    await running.stderr.shows(/continues\.\n/);
    write("base.yaml", sandbox(["one"]));
    await running.stderr.shows(/valid again/);
    write("base.yaml", `${sandbox(["one"])}# the same\n`);
    write("a.yaml", "version: 1\nextends: ./base.yaml\nseed: 2\n");
    await running.stderr.shows(/Loaded a\.yaml again/);
    expect(running.stderr.text().match(/valid again/g)).toHaveLength(1);
  });

  it("survives editors that write another file and rename it, and a file that is gone for a while", async () => {
    const { cwd, running, url, write } = await watch({ "a.yaml": sandbox(["one"]) });
    for (const ref of ["two", "three"]) {
      write("a.yaml~", sandbox([ref]));
      renameSync(join(cwd, "a.yaml~"), join(cwd, "a.yaml"));
      await serves(url, [ref]);
    }
    rmSync(join(cwd, "a.yaml"));
    await running.stderr.shows(/Unknown scenario "a\.yaml"[\s\S]*continues\./);
    write("a.yaml", sandbox(["four"]));
    await serves(url, ["four"]);
  });

  it("survives its folder being removed and coming back, as a checkout of another branch does it", async () => {
    const cwd = temporaryFolder({ "deep/er/a.yaml": sandbox(["one"]) });
    const running = startCli(["deep/er/a.yaml", "--watch", "--port", "0"], { cwd });
    const url = await baseUrl(running);
    for (const [gone, ref] of [
      ["deep/er", "two"],
      ["deep", "three"],
    ] as const) {
      rmSync(join(cwd, gone), { recursive: true });
      await running.stderr.shows(/Unknown scenario[\s\S]*continues\.\n$/);
      mkdirSync(join(cwd, "deep/er"), { recursive: true });
      writeFileSync(join(cwd, "deep/er/a.yaml"), sandbox([ref]));
      await serves(url, [ref]);
    }
    // So quickly that nothing is missing when it is looked at.
    rmSync(join(cwd, "deep"), { recursive: true });
    mkdirSync(join(cwd, "deep/er"), { recursive: true });
    writeFileSync(join(cwd, "deep/er/a.yaml"), sandbox(["four"]));
    await serves(url, ["four"]);
    writeFileSync(join(cwd, "deep/er/a.yaml"), sandbox(["five"]));
    await serves(url, ["five"]);
  });

  it("notices a link above the file that leads elsewhere, as Kubernetes updates a ConfigMap", async () => {
    const cwd = temporaryFolder();
    // Of the same size and time, so that only the link differs.
    for (const ref of ["one", "two"]) mkdirSync(join(cwd, `..${ref}`));
    for (const ref of ["one", "two"]) {
      const file = join(cwd, `..${ref}/a.yaml`);
      writeFileSync(file, sandbox([ref]));
      utimesSync(file, 1_700_000_000, 1_700_000_000);
    }
    symlinkSync("..one", join(cwd, "..data"));
    symlinkSync("..data/a.yaml", join(cwd, "a.yaml"));
    const url = await baseUrl(startCli(["a.yaml", "--watch", "--port", "0"], { cwd }));
    for (const ref of ["two", "one"]) {
      symlinkSync(`..${ref}`, join(cwd, "..data_tmp"));
      renameSync(join(cwd, "..data_tmp"), join(cwd, "..data"));
      await serves(url, [ref]);
    }
  });

  it("follows the files that the scenario extends, also those that come later", async () => {
    const { url, write } = await watch({
      "a.yaml": "version: 1\nextends: ./base.yaml\n",
      "base.yaml": sandbox(["one"]),
      "other.yaml": sandbox(["two"]),
    });
    write("base.yaml", sandbox(["one", "more"]));
    await serves(url, ["one", "more"]);
    write("a.yaml", "version: 1\nextends: ./other.yaml\n");
    await serves(url, ["two"]);
    write("other.yaml", sandbox(["two", "last"]));
    await serves(url, ["two", "last"]);
  });

  it("follows a file that a broken scenario extends: the scenario is loaded once that file is mended", async () => {
    const { running, url, write } = await watch({
      "a.yaml": sandbox(["one"]),
      "base.yaml": "version: 1\norganizations: [\n",
    });
    write("a.yaml", "version: 1\nextends: ./base.yaml\n");
    await running.stderr.shows(/base\.yaml:\d+:\d+: [\s\S]*\nThe running scenario continues\.\n/);
    write("base.yaml", sandbox(["two"]));
    await serves(url, ["two"]);
    expect(running.stderr.text().match(/continues\./g)).toHaveLength(1);
  });

  it.each([
    ["the file that it extends", { "base.yaml": sandbox(["two"]) }, "./base.yaml"],
    [
      "the file that this one extends",
      { "middle.yaml": "version: 1\nextends: ./deep/last.yaml\n", "deep/last.yaml": sandbox(["two"]) },
      "./middle.yaml",
    ],
    ["a folder that is missing", { "deep/er/base.yaml": sandbox(["two"]) }, "./deep/er/base.yaml"],
  ])("serves a scenario once %s comes, each file after the one before it", async (_, files, parent) => {
    const { cwd, running, url, write } = await watch({ "a.yaml": sandbox(["one"]) });
    write("a.yaml", `version: 1\nextends: ${parent}\n`);
    for (const [index, [name, text]] of Object.entries(files).entries()) {
      await running.stderr.shows(new RegExp(`(?:[^]*?Unknown scenario[^]*?continues\\.\\n){${index + 1}}`));
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      write(name, text);
    }
    await serves(url, ["two"]);
  });

  it("follows the file that a mended one extends, and one that is misspelled until its name is right", async () => {
    const { running, url, write } = await watch({
      "a.yaml": "version: 1\nextends: ./base.yaml\n",
      "base.yaml": sandbox(["one"]),
    });
    write("base.yaml", "version: 1\nextends: ./lst.yaml\n");
    await running.stderr.shows(/continues\.\n/);
    write("last.yaml", sandbox(["two"]));
    write("base.yaml", "version: 1\nextends: ./last.yaml\n");
    await serves(url, ["two"]);
    write("last.yaml", sandbox(["three"]));
    await serves(url, ["three"]);
  });

  it("logs the requests to the new sandbox, and writes its keys into the file of --write-env", async () => {
    const { cwd, running, url, write } = await watch({ "a.yaml": sandbox(["one"]) }, ["--write-env", ".env"]);
    write("a.yaml", sandbox(["two"]));
    await running.stderr.shows(/Loaded a\.yaml again/);
    await fetch(`${url}/v1/relying-party/me`);
    await running.stderr.shows(/401\.missing/);
    expect(readFileSync(join(cwd, ".env"), "utf8")).toMatch(/^SVC_KEY_TWO=/m);
  });

  it("reports that a bundled scenario cannot be watched", async () => {
    const running = startCli(["revoked", "--watch", "--port", "0"], { cwd: temporaryFolder() });
    await running.stderr.shows(/^Nothing to watch: revoked is in no file here\./);
  });
});
