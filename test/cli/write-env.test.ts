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

const block = (...lines: string[]) =>
  ["# svc-sandbox sets the lines from here", ...lines, "# to here."].join("\n");
const ownBlock = block("SVC_API_KEY=SVC_test_1");

function written(text: string, change = (_path: string) => {}): string {
  const cwd = temporaryFolder({ ".env": text });
  change(join(cwd, ".env"));
  const read = () => readFileSync(join(cwd, ".env"), "utf8");
  try {
    writeEnvFile(".env", cwd, variables);
    return read();
  } catch (error) {
    expect(read()).toBe(text);
    return String(error);
  }
}

test.each(["", "A=1\n", "\uFEFFA=1\nB='\n'\n# é\n", '{ "name": "client" }\n'])(
  "the lines of %j stay, and the block follows them",
  (text) => {
    expect(written(text)).toBe(`${text}${ownBlock}\n`);
  },
);

test("a text without an end of its last line gets one, and CRLF stays CRLF", () => {
  expect(written("A=1")).toBe(`A=1\n${ownBlock}\n`);
  expect(written("A=1\r\nB=2")).toBe(`A=1\nB=2\n${ownBlock}\n`.replaceAll("\n", "\r\n"));
});

test("the block of an earlier start is replaced as a whole, where it is", () => {
  const text = `A=1\n${block("SVC_API_KEY=old", "SVC_KEY_OLD=SVC_test_sbx1", "SVC_CONTROL_URL=x")}\nB=2\n`;
  expect(written(text)).toBe(`A=1\n${ownBlock}\nB=2\n`);
  expect(written(written(text))).toBe(written(text));
});

test("lines stay that follow a block whose end was removed", () => {
  const open = block("SVC_API_KEY=old").replace("\n# to here.", "\nB=2");
  expect(written(`${open}\n`)).toBe(`${open}\n${ownBlock}\n`);
  expect(written(written(`${open}\n`))).toBe(`${open}\n${ownBlock}\n`);
});

test("a file that is no text is refused", () => {
  expect(written("A=1\n\0")).toContain('".env": it is not a text');
});

test.runIf(process.getuid?.() !== 0)("a read-only file is refused, also for a token", () => {
  const cwd = temporaryFolder({ ".env": "A=1\n" });
  chmodSync(join(cwd, ".env"), 0o444);
  for (const token of [{}, { SVC_SANDBOX_CONTROL_TOKEN: "open-sesame" }]) {
    const write = () => writeEnvFile(".env", cwd, { ...variables, ...token });
    expect(write).toThrow('".env": EACCES');
  }
});

onUnix("a file of another user is refused: its owner lets others read it", () => {
  const getuid = vi.spyOn(process, "getuid");
  onTestFinished(() => getuid.mockRestore());
  const asAnother = (path: string) => {
    chownSync(path, 65_534, 65_534);
    getuid.mockReturnValue(65_533);
  };
  if (process.getuid?.() !== 0) return;
  expect(written("A=1\n", asAnother)).toContain('".env": it belongs to another user');
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
    const getuid = vi.spyOn(process, "getuid").mockReturnValue(anybody);
    onTestFinished(() => getuid.mockRestore());
    expect(() => write(nobody)).toThrow('".env": it belongs to another user');
    expect(readFileSync(real, "utf8")).toBe("A=1\n");
    write(anybody);
    // An administrator's.
    write(0);
    expect(readFileSync(real, "utf8")).toBe(`A=1\n${ownBlock}\n`);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  },
);

test("a hard link is kept: both names have the new lines, and the file its mode", () => {
  const cwd = temporaryFolder({ ".env": "A=1\n" });
  const [file, other] = [join(cwd, ".env"), join(cwd, "other")];
  chmodSync(file, 0o640);
  linkSync(file, other);
  writeEnvFile(".env", cwd, variables);
  expect(readFileSync(other, "utf8")).toBe(`A=1\n${ownBlock}\n`);
  expect([statSync(file).nlink, statSync(file).mode & 0o777]).toEqual([2, 0o640]);
});

test("a file that gets a token is its owner's alone", () => {
  const cwd = temporaryFolder({ ".env": "A=1\n" });
  const mode = () => statSync(join(cwd, ".env")).mode & 0o777;
  chmodSync(join(cwd, ".env"), 0o666);
  writeEnvFile(".env", cwd, variables);
  expect(mode()).toBe(0o666);
  writeEnvFile(".env", cwd, { ...variables, SVC_SANDBOX_CONTROL_TOKEN: "open-sesame" });
  expect(mode()).toBe(0o600);
});
