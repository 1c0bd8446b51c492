import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeReportFile, writeWholeFile } from "../../src/cli/output-files.js";
import { isMachineLimit, makeFolder, replaceFile } from "../../src/node/files/write-file.js";
import { startServer } from "../../src/server/index.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const onUnix = test.runIf(process.platform !== "win32");

onUnix("a symbolic link is kept and its file is written; a dangling link is rejected", () => {
  const folder = temporaryFolder({ "real/env": "old" });
  symlinkSync("real/env", join(folder, "env"));
  writeWholeFile(join(folder, "env"), "new", 0o600);
  expect(lstatSync(join(folder, "env")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, "real/env"), "utf8")).toBe("new");
  expect(readdirSync(join(folder, "real"))).toEqual(["env"]);
  symlinkSync("nothing", join(folder, "dangling"));
  expect(() => writeWholeFile(join(folder, "dangling"), "new", 0o600)).toThrow("symbolic link");
});

onUnix("a pipe and a device are written to, not replaced", () => {
  const pipe = join(temporaryFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(() => writeWholeFile(pipe, "text", 0o600)).toThrow("ENXIO");
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  writeWholeFile(pipe, "text", 0o600);
  expect(readFileSync(reader, "utf8")).toBe("text");
  closeSync(reader);
  expect(statSync(pipe).isFIFO()).toBe(true);
  writeWholeFile("/dev/null", "text", 0o600);
  expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
});

test("texts and bytes are written in their order", () => {
  const file = join(temporaryFolder(), "state");
  replaceFile(file, ["a", Buffer.from("b"), "c"], 0o600);
  expect(readFileSync(file, "utf8")).toBe("abc");
});

test("the draft of a killed process is replaced", () => {
  const folder = temporaryFolder({ "env.svc-sandbox-draft": "SVC_API_KEY=", "env.tmp": "" });
  writeWholeFile(join(folder, "env"), "new", 0o600);
  expect(readdirSync(folder).sort()).toEqual(["env", "env.tmp"]);
  expect(readFileSync(join(folder, "env"), "utf8")).toBe("new");
});

test("a draft that cannot be removed is an error, and stays", async () => {
  const folder = temporaryFolder({ "env.svc-sandbox-draft/mine": "" });
  expect(() => writeWholeFile(join(folder, "env"), "new", 0o600)).toThrow(/draft/);
  await expect(startServer({ state: join(folder, "env") })).rejects.toMatchObject({
    code: "state_unwritable",
  });
  expect(readdirSync(folder)).toEqual(["env.svc-sandbox-draft"]);
});

test.runIf(process.platform === "linux")("a report to standard output is appended to a file", async () => {
  const file = join(temporaryFolder(), "output");
  writeFileSync(file, "of the command\n");
  const descriptor = openSync(file, "a");
  writeReportFile(`/proc/self/fd/${descriptor}`, "report\n");
  closeSync(descriptor);
  expect(openFiles()).not.toContain(file);
  expect(readFileSync(file, "utf8")).toBe("of the command\nreport\n");
});

test("only an error of the system is a limit of the machine", () => {
  const full = Object.assign(new Error("no room"), { code: "ENOSPC" });
  expect([full, new Error("no room"), { code: "ENOSPC" }].map(isMachineLimit)).toEqual([true, false, false]);
});

test.runIf(process.platform === "linux")("what cannot be read has its cause in words", async () => {
  const cwd = temporaryFolder();
  symlinkSync("loop", join(cwd, "loop"));
  for (const [words, why] of [
    ["validate /proc/self/mem", "the disk or the device reports an error"],
    [`validate ./${"long".repeat(100)}`, "its name is too long"],
    ["report ./loop", 'the report "./loop": its symbolic links lead in a circle'],
  ] as const) {
    expect(await runCli(words.split(" "), { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${why}.`),
    });
  }
});

test.runIf(process.platform === "linux")(
  "a folder that cannot be made is one error, also below /proc",
  () => {
    expect(() => makeFolder("/proc/x/y/z")).toThrow("ENOENT");
    const folder = join(temporaryFolder({ file: "" }), "a/b");
    makeFolder(folder);
    expect(statSync(folder).isDirectory()).toBe(true);
    expect(() => makeFolder(join(folder, "../../file/c"))).toThrow("ENOTDIR");
  },
);

function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      // Another part of this process has closed it meanwhile.
      return [];
    }
  });
}
