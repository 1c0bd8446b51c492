import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { writeEnvFile } from "../../src/cli/env-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const onUnix = test.runIf(process.platform !== "win32");
const variables = { SVC_API_KEY: "SVC_test_1" };

function written(file: string, text: string, change = (_path: string) => {}): string {
  const cwd = temporaryFolder({ [file]: text });
  change(join(cwd, file));
  const read = () => readFileSync(join(cwd, file), "utf8");
  try {
    writeEnvFile(file, cwd, variables);
    return read();
  } catch (error) {
    expect(read()).toBe(text);
    return String(error);
  }
}

test.each([
  ["package.json", '{\n  "name": "client"\n}\n', 1],
  ["compose.yaml", "services:\n  client:\n    image: client\n", 1],
  ["notes.md", "# Notes\n\nA=1\nCall the API.\n", 4],
  ["run.sh", "A=1\nexport B\n", 2],
  ["client.js", 'const key = "x";\n', 1],
  ["config.toml", 'A = "1"\n[client]\n', 2],
])("%s is not a .env file: refused with its name and line, and unchanged", (file, text, line) => {
  expect(written(file, text)).toMatch(new RegExp(`"${file}": its line ${line} is not NAME=value`));
});

test.each([
  "",
  "\n# a comment\n  # another\n\t\n",
  "A=1\r\nexport B = 2 # mine\r\n",
  `A="two\nlines, and { braces }"\nB='\n'\nC=\`x\ny\`\n`,
  "\uFEFFA=1\nA.b-c=2\nEMPTY=\n",
  'A={"json": [1, 2]}\nB=a=b\nC="unclosed\n',
])("the lines of %j stay", (text) => {
  expect(written(".env", text)).toBe(
    `${text}SVC_API_KEY=SVC_test_1\n`.replaceAll(/\r?\n/g, text.includes("\r") ? "\r\n" : "\n"),
  );
});

test("a read-only file is refused, also for an administrator of the machine", () => {
  expect(written(".env", "A=1\n", (path) => chmodSync(path, 0o444))).toContain('".env": it is read-only');
});

onUnix("a file of another user is refused: its owner lets others read it", () => {
  const getuid = vi.spyOn(process, "getuid");
  onTestFinished(() => getuid.mockRestore());
  const asAnother = (path: string) => void getuid.mockReturnValue(statSync(path).uid + 1);
  expect(written(".env", "A=1\n", asAnother)).toContain('".env": it belongs to another user');
});

test.runIf(process.getuid?.() === 0)(
  "a link of another user is refused, also to a file of this user; an own link stays",
  () => {
    const [nobody, anybody] = [65_534, 65_533];
    const cwd = temporaryFolder({ real: "A=1\n" });
    const [link, real] = [join(cwd, ".env"), join(cwd, "real")];
    symlinkSync("real", link);
    const write = (linkOwner: number) => {
      lchownSync(link, linkOwner, linkOwner);
      writeEnvFile(".env", cwd, variables);
    };
    chownSync(real, anybody, anybody);
    const getuid = vi.spyOn(process, "getuid").mockReturnValue(anybody);
    onTestFinished(() => getuid.mockRestore());
    expect(() => write(nobody)).toThrow('".env": it is a symbolic link of another user');
    expect(readFileSync(real, "utf8")).toBe("A=1\n");
    write(anybody);
    chownSync(real, anybody, anybody);
    // An administrator's.
    write(0);
    expect(readFileSync(real, "utf8")).toBe("A=1\nSVC_API_KEY=SVC_test_1\n");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  },
);

test("a hard link is kept: both names have the new lines, and the file its mode", () => {
  const cwd = temporaryFolder({ ".env": "A=1\n" });
  const [file, other] = [join(cwd, ".env"), join(cwd, "other")];
  chmodSync(file, 0o640);
  linkSync(file, other);
  writeEnvFile(".env", cwd, variables);
  expect(readFileSync(other, "utf8")).toBe("A=1\nSVC_API_KEY=SVC_test_1\n");
  expect([statSync(file).nlink, statSync(file).mode & 0o777]).toEqual([2, 0o640]);
});

const others = { SVC_KEY_NEW: "SVC_test_sbx2", SVC_SANDBOX_CONTROL_TOKEN: "open-sesame" };

test("the lines of keys that are gone leave, also those of an earlier start; the user's own lines stay", () => {
  const own = "A=1\nSVC_KEY_LIVE=SVC_live_1\n";
  const cwd = temporaryFolder({ ".env": `SVC_KEY_OLD=SVC_test_sbx1 # of an earlier start\n${own}` });
  writeEnvFile(".env", cwd, { ...variables, SVC_KEY_NEW: "SVC_test_sbx2" });
  writeEnvFile(".env", cwd, variables);
  expect(readFileSync(join(cwd, ".env"), "utf8")).toBe(`${own}SVC_API_KEY=SVC_test_1\n`);
});

test("the default key of an earlier start leaves if the scenario now has only its hash; a real key stays", () => {
  const cwd = temporaryFolder({
    ".env": "SVC_API_KEY=SVC_test_sbx1\nA=1\n",
    real: "SVC_API_KEY=SVC_live_1\n",
  });
  for (const file of [".env", "real"]) writeEnvFile(file, cwd, { SVC_KEY_NEW: "SVC_test_sbx2" });
  expect(readFileSync(join(cwd, ".env"), "utf8")).toBe("A=1\nSVC_KEY_NEW=SVC_test_sbx2\n");
  expect(readFileSync(join(cwd, "real"), "utf8")).toBe("SVC_API_KEY=SVC_live_1\nSVC_KEY_NEW=SVC_test_sbx2\n");
});

test("the control plane of an earlier start leaves if this one has none", () => {
  const text = "SVC_CONTROL_URL=http://127.0.0.1:4747/__sandbox\nA=1\n";
  expect(written(".env", text)).toBe("A=1\nSVC_API_KEY=SVC_test_1\n");
});

test.each(['"', "'", "`"])("a key of another sandbox leaves also in %s", (mark) => {
  const text = `SVC_KEY_OLD=${mark}SVC_test_sbx1${mark} # old\nSVC_KEY_LIVE=${mark}SVC_live_1${mark}\n`;
  expect(written(".env", text)).toBe(`SVC_KEY_LIVE=${mark}SVC_live_1${mark}\nSVC_API_KEY=SVC_test_1\n`);
});

test.each([" ", "  ", "\t "])(
  "a comment after an empty value and %j stays, and is not the value",
  (spaces) => {
    const text = `SVC_API_KEY=${spaces}# mine\nA=${spaces}# none\n`;
    expect(written(".env", text)).toBe(`SVC_API_KEY=SVC_test_1${spaces}# mine\nA=${spaces}# none\n`);
  },
);

test("a value whose quotes end before it does is replaced as a whole", () => {
  expect(written(".env", 'SVC_API_KEY="old"/v1 # mine\nA="1"2\n')).toBe(
    'SVC_API_KEY=SVC_test_1 # mine\nA="1"2\n',
  );
  expect(written(".env", 'SVC_API_KEY="old"# mine\n')).toBe("SVC_API_KEY=SVC_test_1# mine\n");
  expect(written(".env", 'SVC_API_KEY="a" "b" # mine\nA="1" 2\n')).toBe(
    'SVC_API_KEY=SVC_test_1 # mine\nA="1" 2\n',
  );
});

test.each([
  ["A=1\r\nB=2\nC=3\nD=4\n", "\n"],
  ["A=1\r\nB=2\r\nC=3\n", "\r\n"],
  ["A=1\r\nB=2\n", "\n"],
  ["A=1\r\nB=2", "\r\n"],
  ["A=1", "\n"],
])("a new line of %j ends as most of its lines do", (text, end) => {
  const before = text.endsWith("\n") ? text : text + end;
  expect(written(".env", text)).toBe(`${before}SVC_API_KEY=SVC_test_1${end}`);
});

test("a variable in the first line is set there, also after a byte order mark", () => {
  expect(written(".env", "\uFEFFSVC_API_KEY=old\nA=1\n")).toBe("\uFEFFSVC_API_KEY=SVC_test_1\nA=1\n");
});

test("a line that no .env file has keeps its number after a value of several lines", () => {
  expect(written(".env", `\uFEFFA="1\n2"\n\n# note\nB='\n' # c\nexport C\n`)).toContain("its line 7 is not");
});

test("a file that gets a token is its owner's alone, and the first write reports the change", () => {
  const cwd = temporaryFolder({ ".env": "A=1\n" });
  const mode = () => statSync(join(cwd, ".env")).mode & 0o777;
  chmodSync(join(cwd, ".env"), 0o666);
  expect([writeEnvFile(".env", cwd, variables), mode()]).toEqual([false, 0o666]);
  expect([writeEnvFile(".env", cwd, others), mode()]).toEqual([true, 0o600]);
  expect([writeEnvFile(".env", cwd, others), mode()]).toEqual([false, 0o600]);
});
