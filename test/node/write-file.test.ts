import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isMachineLimit, replaceFile } from "../../src/node/files/write-file.js";
import { startServer } from "../../src/server/index.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("texts and bytes are written in their order", () => {
  const file = join(temporaryFolder(), "state");
  replaceFile(file, ["a", Buffer.from("b"), "c"], 0o600);
  expect(readFileSync(file, "utf8")).toBe("abc");
});

test("a draft that cannot be removed is an error, and stays", async () => {
  const folder = temporaryFolder({ "env.svc-sandbox-draft/mine": "" });
  await expect(startServer({ state: join(folder, "env") })).rejects.toMatchObject({
    code: "state_unwritable",
  });
  expect(readdirSync(folder)).toEqual(["env.svc-sandbox-draft"]);
});

test("only an error of the system is a limit of the machine", () => {
  const full = Object.assign(new Error("no room"), { code: "ENOSPC" });
  expect([full, new Error("no room"), { code: "ENOSPC" }].map(isMachineLimit)).toEqual([true, false, false]);
});

test.runIf(process.platform !== "win32")(
  "a huge file, a folder and a pipe are each a plain error, wherever a file of the user is read",
  async () => {
    const cwd = temporaryFolder({ huge: "", "folder/a": "" });
    truncateSync(join(cwd, "huge"), 17 * 2 ** 20);
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    const lines = ["validate ./NAME", "show ./NAME", "report ./NAME", "report https://127.0.0.1:1 --ca NAME"];
    lines.push("compare https://127.0.0.1:1 --cert NAME --key NAME", "start --port 0 --write-env NAME");
    lines.push("compare http://127.0.0.1:1 --write-scenario NAME");
    for (const line of lines) {
      for (const name of ["huge", "folder", "pipe"]) {
        const words = line.replaceAll("NAME", name).split(" ");
        const ran = await runCli(words, { cwd });
        expect([line, name, ran]).toEqual([line, name, { code: 2, stdout: "", stderr: expect.any(String) }]);
        expect(ran.stderr).toContain(name);
      }
    }
  },
);
