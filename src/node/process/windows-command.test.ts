import { expect, test } from "vitest";
import { windowsCommand } from "./windows-command.js";

const surroundings = {
  cwd: "C:\\work",
  env: { Path: "C:\\tools;C:\\Program Files\\nodejs", ComSpec: "C:\\Windows\\cmd.exe" },
};
const files = [
  "C:\\tools\\git.EXE",
  "C:\\Program Files\\nodejs\\npm.CMD",
  "C:\\work\\node_modules\\.bin\\vitest.cmd",
  "C:\\work\\gradlew.bat",
];
const launch = (...words: [string, ...string[]]) =>
  windowsCommand(words, surroundings, (path) => files.includes(path));

test.each(["git", "git.exe", "nothing", "C:\\tools\\git.EXE"])("%s is started as it is", (program) => {
  expect(launch(program, "a b")).toEqual({ file: program, argv: ["a b"], verbatim: false });
});

test("npm is a batch file, which cmd.exe runs", () => {
  expect(launch("npm", "test")).toEqual({
    file: "C:\\Windows\\cmd.exe",
    argv: ["/d", "/s", "/c", '"C:\\Program^ Files\\nodejs\\npm.CMD ^"test^""'],
    verbatim: true,
  });
});

test("so is one that is named with its folder", () => {
  expect(launch(".\\gradlew.bat").argv[3]).toBe('"C:\\work\\gradlew.bat"');
});

test("no word ends early, and none begins another command", () => {
  expect(launch("npm", 'a"b', "c&d", "%PATH%", "e\\").argv[3]).toBe(
    '"C:\\Program^ Files\\nodejs\\npm.CMD ^"a\\^"b^" ^"c^&d^" ^"^%PATH^%^" ^"e\\\\^""',
  );
});

test("what a package has put into node_modules/.bin reads its words twice", () => {
  expect(launch("node_modules/.bin/vitest.cmd", "a&b").argv[3]).toBe(
    '"C:\\work\\node_modules\\.bin\\vitest.cmd ^^^"a^^^&b^^^""',
  );
});
