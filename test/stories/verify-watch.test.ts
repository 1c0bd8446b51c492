import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { failing, good } from "./stories.js";

describe("svc-sandbox verify --watch", () => {
  function watch(files: Readonly<Record<string, string>>, argv: readonly string[]) {
    const cwd = temporaryFolder(files);
    const running = startCli(["verify", ...argv, "--watch"], { cwd });
    return { running, write: (name: string, text: string) => writeFileSync(join(cwd, name), text) };
  }

  it("verifies again when a file changes, shows what is broken, and waits on", async () => {
    const { running, write } = watch({ "a.yaml": good }, ["a.yaml"]);
    await running.stderr.shows(/^Waiting for changes of a\.yaml\. Ctrl-C ends\.\n/);
    write("a.yaml", failing);
    await running.stdout.shows(/a\.yaml: step 2 of 3 fails/);
    await running.stderr.shows(/(Waiting.*\n){2}/);
    write("a.yaml", "version: 1\nstory: [\n");
    await running.stderr.shows(
      /Failed to load the scenario "a\.yaml"[\s\S]*a\.yaml:\d+:\d+: [\s\S]*\nWaiting/,
    );
    write("a.yaml", good);
    await running.stdout.shows(/all hold[\s\S]*all hold/);
    expect((await running.stop()).code).toBe(0);
  });

  it("follows the files that a scenario extends, also one that is broken at first", async () => {
    const { running, write } = watch(
      {
        "a.yaml": "version: 1\nextends: ./base.yaml\nstory:\n  - request: { key: active }\n",
        "base.yaml": "version: 1\norganizations: [\n",
      },
      ["a.yaml"],
    );
    await running.stderr.shows(/Waiting/);
    write("base.yaml", good);
    await running.stdout.shows(/a\.yaml: 1 step, /);
  });

  it("has nothing to watch in bundled scenarios, and says so", async () => {
    const { running } = watch({}, ["revoked"]);
    expect((await running.done).stderr).toMatch(/^Nothing to watch: /);
  });
});
