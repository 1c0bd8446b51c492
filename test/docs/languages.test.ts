import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { blockWith } from "../support/pages.js";
import { commandLine, runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

// The recipes of docs/languages.md, in the languages that this machine has.

const page = "docs/languages.md";
const cargo = '[package]\nname = "whoami"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n';
const recipes = [
  { language: "ruby", file: "whoami_test.rb", probe: ["ruby", "-r", "minitest", "-e", ""], others: {} },
  { language: "php", file: "whoami_test.php", probe: ["php", "-r", "curl_version();"], others: {} },
  {
    ...{ language: "rust", file: "tests/whoami.rs", probe: ["cargo", "--version"] },
    others: { "Cargo.toml": cargo, "lib.rs": "" },
  },
];

describe.each(recipes)("the recipe for $language", ({ language, file, probe, others }) => {
  const [program = "", ...argv] = probe;
  const isHere = spawnSync(program, argv).status === 0;

  test.skipIf(!isHere)("covers what it expects, and fails when a response differs", async () => {
    const text = blockWith(page, language);
    const cwd = userFolder({ ...others, [file]: text });
    const command = blockWith(page, "sh", ` ${program} `)
      .trim()
      .replace("npx --no-install svc-sandbox exec", `${commandLine} exec --report report.json`);
    expect(await runCommand(command, { cwd }).ended).toMatchObject({ code: 0 });
    const { paths } = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8"));
    const covered = paths.filter(({ met }: { met: boolean }) => met);
    expect(covered.map(({ path_id }: { path_id: string }) => path_id)).toEqual(["200.test", "401.revoked"]);
    writeFileSync(join(cwd, file), text.replace("401", "403"));
    expect((await runCommand(command, { cwd }).ended).code).not.toBe(0);
  });
});
