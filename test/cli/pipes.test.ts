import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const tiny = `version: 1
organizations:
  a-bank: { name: A Bank, type: bank, keys: { only: { environment: test, name: One } } }
`;

/** A folder with a named pipe in it. */
function withPipe(files = {}) {
  const cwd = temporaryFolder(files);
  const pipe = join(cwd, "pipe.yaml");
  execFileSync("mkfifo", [pipe]);
  return { cwd, pipe };
}

// Linux tells which files a process has open.
const isOpenIn = (pid: number | undefined, file: string) =>
  readdirSync(`/proc/${pid}/fd`).some((name) => {
    const link = `/proc/${pid}/fd/${name}`;
    return existsSync(link) && readlinkSync(link) === file;
  });
const opened = (pid: number | undefined, file: string) => expect.poll(() => isOpenIn(pid, file)).toBe(true);

test.runIf(process.platform === "linux")("Ctrl-C ends the wait for a scenario in a pipe", async () => {
  const { cwd, pipe } = withPipe();
  for (const [argv, end] of [
    [["start", pipe], { code: 0, signal: null, stderr: "" }],
    [["validate", pipe], { code: null, signal: "SIGINT" }],
  ] as const) {
    const { child, ended } = startBin(argv, { cwd });
    await opened(child.pid, pipe);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ ...end, stdout: "" });
  }
});

test.runIf(process.platform === "linux")(
  "a scenario is read from a pipe to its end, again with --watch, and a wait for more keeps no state from being saved",
  async () => {
    const { cwd, pipe } = withPipe();
    const argv = ["start", pipe, "--port", "0", "--json", "--watch", "--state", "state.json"];
    const { child, until, ended } = startBin(argv, { cwd });
    await writeFile(pipe, tiny);
    expect(JSON.parse(await until(/\n/)).keys).toHaveProperty("only");
    await opened(child.pid, pipe);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining("defect") });
    expect(existsSync(join(cwd, "state.json"))).toBe(true);
  },
);

test.runIf(process.platform !== "win32")("a file that a scenario extends is no pipe", async () => {
  const { cwd } = withPipe({ "my.yaml": "version: 1\nextends: ./pipe.yaml\n" });
  const { stderr, code } = await startBin(["validate", "my.yaml"], { cwd }).ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining('"./pipe.yaml": it is a pipe.')]);
});
