import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { LockedFile } from "../../src/node/files/lock.js";
import { version } from "../../src/node/package-files.js";
import { type ServerOptions, startServer } from "../../src/server/index.js";
import { oneKey } from "../support/api-client.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The text of a state of the bundled `rotation`. */
async function soundText(): Promise<string> {
  const file = join(temporaryFolder(), "state.json");
  await (await startServer({ scenario: "rotation", state: file })).close(0);
  return readFileSync(file, "utf8");
}

/** Expects that a start with these options is rejected, and leaves its state file unchanged. */
async function expectRejected(options: ServerOptions & { state: string }, code: string): Promise<void> {
  const before = readFileSync(options.state);
  await expect(startServer(options)).rejects.toMatchObject({ code });
  expect(readFileSync(options.state).equals(before)).toBe(true);
}

/** Changes the content of a state. */
function changed(text: string, change: (content: { sandbox?: { scenario?: object } }) => void): string {
  const content = JSON.parse(text);
  change(content);
  return `${JSON.stringify(content)}\n`;
}

test.each<[string, (text: string) => string]>([
  ["no scenario", (text) => changed(text, ({ sandbox }) => delete sandbox?.scenario)],
  ["no sandbox", (text) => changed(text, (content) => delete content.sandbox)],
  ["nothing in it", () => ""],
  ["a value changed", (text) => text.replace('"isChangedByUser":false', '"isChangedByUser":true')],
  ["its time changed", (text) => text.replace(/"saved_at":\d/, '"saved_at":9')],
  ["a changed checksum", (text) => text.replace(/"sum":"./, '"sum":"x')],
  ["half of a file", (text) => text.slice(0, text.length / 2)],
  ["its last byte missing", (text) => text.slice(0, -2)],
  ["something after it", (text) => `${text}{}\n`],
  ["another format", (text) => text.replace(/"svc_sandbox_state":\d+/, '"svc_sandbox_state":4')],
  ["no scenario of its start", (text) => text.replace('"started_with"', '"started"')],
  ["JSON of another program", () => '{"name":"a-package","version":"1.0.0"}\n'],
  ["no JSON", () => "version: 1\n"],
  ["a byte order mark", (text) => `\uFEFF${text}`],
])("a state file with %s is rejected and stays unchanged", async (_title, breaking) => {
  const sound = await soundText();
  const text = breaking(sound);
  expect(text).not.toBe(sound);
  const state = join(temporaryFolder({ "state.json": text }), "state.json");
  await expectRejected({ scenario: "rotation", state }, "state_unreadable");
});

/** The message for a state of the format 99 that has this `version`, as JSON. */
async function messageForWriter(writer: string): Promise<string> {
  const ofWriter = `"svc_sandbox_state":99,"version":${writer}`;
  const text = (await soundText()).replace(/"svc_sandbox_state":\d+,"version":"[^"]+"/, ofWriter);
  const state = join(temporaryFolder({ "state.json": text }), "state.json");
  const { code, message } = await startServer({ scenario: "rotation", state }).catch((error) => error);
  expect([code, message]).toEqual(["state_unreadable", expect.stringContaining(state)]);
  return message;
}

test("a state of another format shows the versions that wrote it and that read it", async () => {
  const message = await messageForWriter('"7.8.9"');
  for (const part of ["is 99", "start svc-sandbox 7.8.9,", `svc-sandbox ${version} reads`]) {
    expect(message).toContain(part);
  }
});

test.each([`"${version}"`, '"1; rm x"', '"latest"', '""', "7", "null", '{"a":1}'])(
  "a state of another format names no version to start if it was written by %s",
  async (writer) => {
    const message = await messageForWriter(writer);
    expect(message).not.toContain("start svc-sandbox");
    expect(message).toMatch(/Name another file, or remove this one/);
  },
);

test("a state of another scenario is rejected, by content and not by name", async () => {
  const state = join(temporaryFolder(), "state.json");
  const [one, other] = [oneKey({}, { name: "one" }), oneKey({ legacy: true }, { name: "one" })];
  for (const scenario of [one, one]) await (await startServer({ scenario, state })).close(0);
  await expectRejected({ scenario: other, state }, "state_mismatch");
});

test("a state makes its folder, once the server listens", async () => {
  const file = join(temporaryFolder(), "a/b/state.json");
  await (await startServer({ state: file })).close(0);
  expect(JSON.parse(readFileSync(file, "utf8")).sandbox.name).toBe("key-states");
});

test("a place where no state can be is rejected at the start", async () => {
  const cwd = temporaryFolder({ "a-file": "" });
  const rejected = async (file: string) =>
    (await startServer({ state: join(cwd, file) }).catch(({ code }) => code)) as string;
  expect(await rejected("a-file/state.json")).toMatch(/^state_un(?:readable|writable)$/);
  expect(await rejected(".")).toBe("state_unreadable");
});

test("a state that a running server uses is rejected, under any name, until that server is closed", async () => {
  const cwd = temporaryFolder();
  const state = join(cwd, "state.json");
  symlinkSync(cwd, join(cwd, "same-folder"));
  const first = await startServer({ state });
  for (const file of [state, join(cwd, "same-folder/state.json")]) {
    await expectRejected({ state: file }, "state_in_use");
  }
  await first.close(0);
  await expect(startServer({ state, host: "192.0.2.1", port: 7 })).rejects.toMatchObject({
    code: "address_unavailable",
    details: { host: "192.0.2.1", port: 7 },
  });
  await (await startServer({ state })).close(0);
});

test("a file that was rejected is free for another start of the same process", async () => {
  const state = join(temporaryFolder(), "state.json");
  writeFileSync(state, "{}");
  await expectRejected({ state }, "state_unreadable");
  rmSync(state);
  await (await startServer({ state })).close(0);
});

test("a start whose state cannot be written has closed its server once it rejects", async () => {
  const http = process.getBuiltinModule("node:http");
  const { createServer } = http;
  const isClosed = vi.fn();
  vi.spyOn(http, "createServer").mockImplementation((options) =>
    createServer(options).once("close", isClosed),
  );
  vi.spyOn(LockedFile.prototype, "replace").mockImplementation(() => {
    throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const starting = startServer({ state: join(temporaryFolder(), "state.json") });
  await expect(starting).rejects.toMatchObject({ code: "state_unwritable" });
  expect(isClosed).toHaveBeenCalledOnce();
});

test("a close that fails still closes the state file", async () => {
  const state = join(temporaryFolder(), "state.json");
  const server = await startServer({ state });
  await expect(server.close(Symbol("no number") as never)).rejects.toThrow(TypeError);
  // Its lock is free.
  await (await startServer({ state })).close(0);
  await server.close(0);
});

test.runIf(process.platform !== "win32")("a state must not be a pipe, a device or a dead link", async () => {
  const cwd = temporaryFolder();
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  symlinkSync("nothing", join(cwd, "link"));
  for (const state of ["/dev/null", join(cwd, "pipe"), join(cwd, "link")]) {
    await expect(startServer({ state })).rejects.toMatchObject({ code: "state_unreadable" });
  }
});
