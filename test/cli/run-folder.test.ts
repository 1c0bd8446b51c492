import fs, { appendFileSync, promises, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openRunFolder } from "../../src/cli/run-folder.js";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { version } from "../../src/node/package-files.js";
import { currentRun } from "../../src/runs/current-run.js";
import type { StartOptions } from "../../src/sandbox/sandbox-state.js";
import { loadScenario } from "../../src/server/start-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function open(options: StartOptions = {}) {
  const folder = await openRunFolder({ scenario: await loadScenario("active"), options, conditions: {} });
  onTestFinished(folder.remove);
  return folder;
}

/** Makes another folder the one of temporary files. */
function temporaryFiles() {
  const all = temporaryFolder();
  vi.stubEnv("TMPDIR", all);
  onTestFinished(() => void vi.unstubAllEnvs());
  return all;
}

test("the folder is absolute where that of temporary files is relative", async () => {
  const all = temporaryFiles();
  vi.stubEnv("TMPDIR", relative(process.cwd(), all));
  expect(dirname((await open()).path)).toBe(all);
});

test("a full disk at the start is an error that names the folder", async () => {
  const all = temporaryFiles();
  const full = Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
  const writing = vi.spyOn(promises, "writeFile").mockRejectedValueOnce(full);
  onTestFinished(() => writing.mockRestore());
  await expect(open()).rejects.toMatchObject({
    code: "usage",
    message: expect.stringMatching(new RegExp(`"${all}.*": ENOSPC.* TMPDIR`)),
  });
});

/** Makes this process one of a command in a run, and catches what it writes to stderr. */
function takePart(path: string) {
  vi.stubEnv("SVC_SANDBOX_RUN", path);
  const said: string[] = [];
  const { writeSync } = fs;
  const writing = vi.spyOn(fs, "writeSync").mockImplementation(((file: number, ...text: [string]) => {
    if (file !== 2) return writeSync(file, ...text);
    return said.push(...text);
  }) as typeof fs.writeSync);
  onTestFinished(() => {
    writing.mockRestore();
    vi.unstubAllEnvs();
  });
  return said;
}

/** Makes appends write as much of their texts as the next of these numbers says: 0 is nothing, 1 is all, which then stays. */
function fillDisk(...shares: number[]) {
  const { appendFileSync } = fs;
  const appending = vi.spyOn(fs, "appendFileSync").mockImplementation((file, data, options) => {
    const text = String(data);
    const end = text.length * (shares.shift() ?? 1);
    if (end > 0) appendFileSync(file, text.slice(0, end), options);
    if (end < text.length) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  });
  onTestFinished(() => appending.mockRestore());
}

const me = (sandbox: Sandbox) => sandbox.fetch("https://api.example/v1/relying-party/me");

const cut = expect.stringMatching(/^Requests of the command could not be counted: .* full disk\.$/);

test("requests that a full disk has cut are left out and told, and those after them count", async () => {
  const folder = await open();
  const server = stateOf(createSandbox({ scenario: "active" }));
  const said = takePart(folder.path);
  fillDisk(1, 0.5, 1);
  const sandbox = createSandbox();
  const countAfter = async () => {
    await me(sandbox);
    folder.read(server);
    return [server.journal.requests().length, folder.whyIncomplete];
  };
  for (const complete of [1, 1]) expect(await countAfter()).toEqual([complete, undefined]);
  expect(() => folder.throwIfIncomplete()).not.toThrow();
  expect(await countAfter()).toEqual([2, cut]);
  expect(() => folder.throwIfIncomplete()).toThrow(expect.objectContaining({ code: "usage" }));
  expect(said).toEqual([expect.stringMatching(/^svc-sandbox could not count .* ENOSPC\n$/)]);
});

test("a line without an end may be the last one of a killed process, and is left out", async () => {
  const folder = await open();
  appendFileSync(join(folder.path, "requests-1-2-3.jsonl"), '{"exchange":');
  folder.read(stateOf(createSandbox({ scenario: "active" })));
  expect(folder.whyIncomplete).toBeUndefined();
});

test("a cut line with an end after it is a missing request, which needs another run", async () => {
  const folder = await open();
  appendFileSync(join(folder.path, "requests-1-2-3.jsonl"), '{"exchange":\n');
  folder.read(stateOf(createSandbox({ scenario: "active" })));
  expect(() => folder.throwIfIncomplete()).toThrow(expect.objectContaining({ code: "usage" }));
});

test("a request that cannot be claimed is told, and certify needs another run", async () => {
  const folder = await open();
  expect([folder.claim("first"), folder.claim("first")]).toEqual([true, false]);
  expect(() => folder.throwIfIncomplete()).not.toThrow();

  const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  const writing = vi.spyOn(fs, "writeFileSync").mockImplementationOnce(() => {
    throw full;
  });
  onTestFinished(() => writing.mockRestore());
  expect(folder.claim("second")).toBe(false);
  expect(() => folder.throwIfIncomplete()).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringContaining("ENOSPC") }),
  );
});

test("a claim of the command's process that fails is told once, and the client gets its own response", async () => {
  const onRequest = {
    which: { kind: "first", outcome: "401.missing" },
    gets: { kind: "rejection", as: "fault.status" },
  } as const;
  const scenario = await loadScenario("active");
  const folder = await openRunFolder({ scenario, options: {}, conditions: { onRequest } });
  onTestFinished(folder.remove);
  const said = takePart(folder.path);
  // A line is also written by this function, in the end.
  const { writeFileSync } = fs;
  const writing = vi.spyOn(fs, "writeFileSync").mockImplementation((file, ...more) => {
    if (!String(file).includes("claimed-")) return writeFileSync(file, ...more);
    throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  });
  onTestFinished(() => writing.mockRestore());
  const sandbox = createSandbox();
  const statuses = [(await me(sandbox)).status, (await me(sandbox)).status];
  expect(statuses).toEqual([401, 401]);
  expect(said).toEqual([expect.stringMatching(/^svc-sandbox could not count .* ENOSPC\n$/)]);
});

test("a sandbox of another version names both versions, and counts nothing", async () => {
  const { path } = await open();
  const run = JSON.parse(fs.readFileSync(join(path, "run.json"), "utf8"));
  fs.writeFileSync(join(path, "run.json"), JSON.stringify({ ...run, version: "0.0.1" }));
  const said = takePart(path);
  expect((await me(createSandbox())).status).toBe(401);
  expect(said).toEqual([expect.stringContaining(`of svc-sandbox 0.0.1, and this is ${version}.`)]);
  expect(fs.readdirSync(path)).toEqual(["run.json"]);
});

test("a folder with anything else has requests that could not be read", async () => {
  const folder = await open();
  symlinkSync("run.json", join(folder.path, "requests-1-1-1.jsonl"));
  folder.read(stateOf(createSandbox({ scenario: "active" })));
  expect(() => folder.throwIfIncomplete()).toThrow(expect.objectContaining({ code: "usage" }));
});

test("a full disk is no error of the client, also if stderr is gone", async () => {
  takePart((await open()).path);
  vi.mocked(fs.writeSync).mockImplementation(() => {
    throw Object.assign(new Error(), { code: "EPIPE" });
  });
  fillDisk(0);
  expect((await me(createSandbox())).status).toBe(401);
});

test("a run that could not be read is read for the next sandbox", async () => {
  const folder = await open();
  const said = takePart(folder.path);
  const reading = vi.spyOn(fs, "readFileSync").mockImplementationOnce(() => {
    throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
  });
  onTestFinished(() => reading.mockRestore());
  for (const sandbox of [createSandbox(), createSandbox()]) await me(sandbox);
  const server = stateOf(createSandbox({ scenario: "active" }));
  folder.read(server);
  expect(server.journal.requests()).toHaveLength(1);
  expect(said).toEqual([expect.stringMatching(/^svc-sandbox could not count .* EMFILE\n$/)]);
});

test.each(["null", "1", "[]", "{}"])("a run.json that is %s is no run, and no crash", async (text) => {
  const said = takePart(temporaryFolder({ "run.json": text }));
  const sandbox = createSandbox();
  expect((await sandbox.fetch("https://api.example/v1/relying-party/me")).status).toBe(401);
  expect(said).toEqual([
    expect.stringMatching(/^svc-sandbox could not count .* run\.json is not the file of a run\n$/),
  ]);
});

test("the options of a sandbox win over those of its run, each of them", async () => {
  const ofRun = { seed: 7, profile: "typical", now: 0, frozen: true } as const;
  takePart((await open(ofRun)).path);
  const own = { seed: 8, profile: "varied", now: 1, frozen: false } as const;
  expect(currentRun()?.optionsFor(own)).toEqual(own);
  expect(currentRun()?.optionsFor({})).toEqual(ofRun);
});
