import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { control } from "../support/call-control.js";
import { baseUrl, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const world = (keys: readonly string[], more = "") =>
  `version: 1\n${more}organizations: { a-bank: { name: A Bank, type: bank, keys: { ${keys.map((ref) => `${ref}: { environment: test }`).join(", ")} } } }\n`;

async function watch(files: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  const cwd = temporaryFolder(files);
  const running = startCli(["a.yaml", "--watch", "--port", "0", ...flags], { cwd });
  const url = await baseUrl(running);
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  return { cwd, running, url, write };
}

async function keysServed(url: string): Promise<string[]> {
  const { body } = await control(`${url}/__sandbox`, "GET /keys");
  return body.data.map(({ ref }: { ref: string }) => ref);
}

describe("--watch", () => {
  it("replaces the old scenario by a changed one, and lists new and removed keys", async () => {
    const { running, url, write } = await watch({ "a.yaml": world(["one", "two"]) });
    write("a.yaml", world(["two", "three"]));
    await running.stderr.shows(/Loaded a\.yaml again: new keys three; gone one\.\n/);
    expect(await keysServed(url)).toEqual(["two", "three"]);
    write("a.yaml", world(["two", "three"], "seed: 9\n"));
    await running.stderr.shows(/Loaded a\.yaml again: other secrets for two, three\.\n/);
  });

  it("reports an interrupted story, and the keys that are gone with the old sandbox", async () => {
    const story =
      "story:\n  - say: One.\n  - rotate: { key: one, as: next }\n  - request: { key: next }\n  - say: End.\n";
    const { running, url, write } = await watch({ "a.yaml": world(["one"]) + story });
    for (let told = 0; told < 2; told++) await control(`${url}/__sandbox`, "POST /story/next", {});
    write("a.yaml", world(["one"], "description: Other.\n") + story);
    await running.stderr.shows(
      /Loaded a\.yaml again: gone next\. The story, 2 of 4 steps, is back at its start\.\n/,
    );
    write("a.yaml", world(["one"], "description: Yet another.\n") + story);
    await running.stderr.shows(/again: the same keys, in a new sandbox\.\n/);
  });

  it("keeps the old sandbox if the file is broken, shows why, and uses the next valid file", async () => {
    const { running, url, write } = await watch({ "a.yaml": world(["one"]) });
    write("a.yaml", "version: 1\norganizations: [\n");
    await running.stderr.shows(/a\.yaml:\d+:\d+: [\s\S]*\nThe running scenario continues\.\n/);
    expect(await keysServed(url)).toEqual(["one"]);
    write("a.yaml", world(["one"]));
    await running.stderr.shows(/a\.yaml is valid again, unchanged\.\n/);
    write("a.yaml", world(["one", "two"]));
    await running.stderr.shows(/Loaded a\.yaml again: new keys two\.\n/);
  });

  it("reports once that a broken file is valid again, also one that the scenario extends", async () => {
    const { running, write } = await watch({
      "a.yaml": "version: 1\nextends: ./base.yaml\n",
      "base.yaml": world(["one"]),
    });
    write("base.yaml", "version: [");
    await running.stderr.shows(/continues\.\n/);
    write("base.yaml", world(["one"]));
    await running.stderr.shows(/valid again/);
    write("base.yaml", `${world(["one"])}# the same\n`);
    write("a.yaml", "version: 1\nextends: ./base.yaml\nseed: 2\n");
    await running.stderr.shows(/other secrets for one/);
    expect(running.stderr.text().match(/valid again/g)).toHaveLength(1);
  });

  it("survives editors that write another file and rename it, and a file that is gone for a while", async () => {
    const { cwd, running, write } = await watch({ "a.yaml": world(["one"]) });
    for (const ref of ["two", "three"]) {
      write("a.yaml~", world([ref]));
      renameSync(join(cwd, "a.yaml~"), join(cwd, "a.yaml"));
      await running.stderr.shows(new RegExp(`new keys ${ref};`));
    }
    rmSync(join(cwd, "a.yaml"));
    await running.stderr.shows(/Unknown scenario "a\.yaml"[\s\S]*continues\./);
    write("a.yaml", world(["four"]));
    await running.stderr.shows(/new keys four;/);
  });

  it("survives its folder being removed and coming back, as a checkout of another branch does it", async () => {
    const cwd = temporaryFolder({ "deep/er/a.yaml": world(["one"]) });
    const running = startCli(["deep/er/a.yaml", "--watch", "--port", "0"], { cwd });
    await baseUrl(running);
    for (const [gone, ref] of [
      ["deep/er", "two"],
      ["deep", "three"],
    ] as const) {
      rmSync(join(cwd, gone), { recursive: true });
      await running.stderr.shows(/Unknown scenario[\s\S]*continues\.\n$/);
      mkdirSync(join(cwd, "deep/er"), { recursive: true });
      writeFileSync(join(cwd, "deep/er/a.yaml"), world([ref]));
      await running.stderr.shows(new RegExp(`new keys ${ref};`));
    }
    // So quickly that nothing is missing when it is looked at.
    rmSync(join(cwd, "deep"), { recursive: true });
    mkdirSync(join(cwd, "deep/er"), { recursive: true });
    writeFileSync(join(cwd, "deep/er/a.yaml"), world(["four"]));
    await running.stderr.shows(/new keys four;/);
    writeFileSync(join(cwd, "deep/er/a.yaml"), world(["five"]));
    await running.stderr.shows(/new keys five;/);
  });

  it("follows the files that the scenario extends, also those that come later", async () => {
    const { running, write } = await watch({
      "a.yaml": "version: 1\nextends: ./base.yaml\n",
      "base.yaml": world(["one"]),
      "other.yaml": world(["two"]),
    });
    write("base.yaml", world(["one", "more"]));
    await running.stderr.shows(/new keys more\.\n/);
    write("a.yaml", "version: 1\nextends: ./other.yaml\n");
    await running.stderr.shows(/new keys two; gone one, more\.\n/);
    write("other.yaml", world(["two", "last"]));
    await running.stderr.shows(/new keys last\.\n/);
  });

  it("follows the file of --changes, also for a bundled scenario", async () => {
    const changes = (code: string) =>
      `version: 1\nextends: key-states\nchanges: { code: { at: 2020-01-01, codes: { rate_limited: ${code} } } }\n`;
    const cwd = temporaryFolder({ "next.yaml": changes("one") });
    const argv = ["start", "key-states", "--watch", "--changes", "next.yaml", "--port", "0"];
    const running = startCli(argv, { cwd });
    await baseUrl(running);
    writeFileSync(join(cwd, "next.yaml"), changes("two"));
    await running.stderr.shows(/Loaded key-states again: the same keys, in a new sandbox\.\n/);
  });

  it("logs the requests to the new sandbox, and writes its keys into the file of --write-env", async () => {
    const { cwd, running, url, write } = await watch({ "a.yaml": world(["one"]) }, ["--write-env", ".env"]);
    write("a.yaml", world(["two"]));
    await running.stderr.shows(/new keys two; gone one\.\n/);
    await fetch(`${url}/v1/relying-party/me`);
    await running.stderr.shows(/401\.missing/);
    expect(readFileSync(join(cwd, ".env"), "utf8")).toMatch(/^SVC_KEY_TWO=/m);
  });

  it("reports that a bundled scenario cannot be watched", async () => {
    const running = startCli(["revoked", "--watch", "--port", "0"], { cwd: temporaryFolder() });
    await running.stderr.shows(/^Nothing to watch: revoked is a bundled scenario\./);
  });
});
