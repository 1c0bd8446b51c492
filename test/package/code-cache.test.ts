import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findKeys } from "../../src/domain/redact.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// bin/code-cache.js, as it is installed.

/** Starts a sandbox, stops it, and returns what it printed. */
async function startAndStop(env: Record<string, string>): Promise<string> {
  const command = startBin(["--port", "0", "--json", "--log", "off"], { env });
  const printed = await command.until(/"listening".*\n/);
  command.child.kill("SIGTERM");
  const { code } = await command.ended;
  expect(code).toBe(0);
  return printed;
}

function contentsOf(folder: string): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

test("a start keeps what it has compiled, for its user alone, and the next one takes it as it is", async () => {
  const cache = temporaryFolder();
  const folder = join(cache, "svc-sandbox");
  await startAndStop({ XDG_CACHE_HOME: cache });
  const kept = contentsOf(folder);
  expect(Object.keys(kept).length).toBeGreaterThan(2);
  if (process.platform !== "win32") {
    const modes = [folder, ...Object.keys(kept).map((name) => join(folder, name))].map(
      (file) => statSync(file).mode & 0o777,
    );
    expect(new Set(modes)).toEqual(new Set([0o700, 0o600]));
  }
  await startAndStop({ XDG_CACHE_HOME: cache });
  expect(contentsOf(folder)).toEqual(kept);
});

test("there is no key in it", async () => {
  const cache = temporaryFolder();
  const printed = await startAndStop({ XDG_CACHE_HOME: cache });
  const keys = findKeys(printed);
  expect(keys.length).toBeGreaterThan(2);
  const texts = Object.values(contentsOf(join(cache, "svc-sandbox"))).map((bytes) =>
    bytes.toString("latin1"),
  );
  expect(keys.filter((key) => texts.some((text) => text.includes(key)))).toEqual([]);
});

test("what is damaged is not taken, but made again", async () => {
  const cache = temporaryFolder();
  const folder = join(cache, "svc-sandbox");
  await startAndStop({ XDG_CACHE_HOME: cache });
  const kept = contentsOf(folder);
  const damaged = Object.entries(kept).map(([name, bytes]) => {
    const half = Math.floor(bytes.length / 2);
    const other = name.includes("cli.js") ? Buffer.alloc(0) : Buffer.from(bytes).fill(0x55, half);
    writeFileSync(join(folder, name), other);
    return [name, other] as const;
  });
  await startAndStop({ XDG_CACHE_HOME: cache });
  const after = contentsOf(folder);
  expect(Object.keys(after)).toEqual(Object.keys(kept));
  expect(damaged.filter(([name, bytes]) => after[name]?.equals(bytes))).toEqual([]);
});

test("what no version has written for a month is removed", async () => {
  const cache = temporaryFolder();
  const folder = join(cache, "svc-sandbox");
  mkdirSync(folder);
  const [old, young] = [join(folder, "old.bin"), join(folder, "young.bin")];
  for (const file of [old, young]) writeFileSync(file, "");
  const before = Date.now() / 1000 - 31 * 24 * 60 * 60;
  utimesSync(old, before, before);
  await startAndStop({ XDG_CACHE_HOME: cache });
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});

test("a start needs no place to keep anything", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "file");
  writeFileSync(file, "");
  await startAndStop({ XDG_CACHE_HOME: file });
  await startAndStop({ XDG_CACHE_HOME: "", HOME: "" });
  await startAndStop({ XDG_CACHE_HOME: folder, NODE_DISABLE_COMPILE_CACHE: "1" });
  expect(readdirSync(folder)).toEqual(["file"]);
});
