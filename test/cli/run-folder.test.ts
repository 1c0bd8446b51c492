import fs, {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  promises,
  readdirSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openRunFolder } from "../../src/cli/run-folder.js";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { nodePlatform } from "../../src/node/platform.js";
import { currentRun } from "../../src/runs/current-run.js";
import type { StartOptions } from "../../src/sandbox/sandbox-state.js";
import { loadScenario } from "../../src/server/start-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function open(options: StartOptions = {}) {
  const folder = await openRunFolder({ scenario: await loadScenario("active"), options });
  onTestFinished(folder.remove);
  return folder;
}

/** Makes another folder the one of temporary files, with the folder of this user's runs. */
function temporaryFiles() {
  const all = temporaryFolder({ "others/run.json": "{}" });
  vi.stubEnv("TMPDIR", all);
  onTestFinished(() => void vi.unstubAllEnvs());
  const runs = join(all, `svc-sandbox-${process.getuid?.() ?? "runs"}`);
  mkdirSync(runs, { mode: 0o700 });
  return { all, runs };
}

const agoInSeconds = (days: number) => Date.now() / 1000 - days * 86_400;

test("a folder that another start takes for a left one before it is locked gets another name", async () => {
  const { runs } = temporaryFiles();
  const later = vi.spyOn(nodePlatform, "time").mockReturnValue(agoInSeconds(-2) * 1000);
  const { mkdtemp } = promises;
  const made: string[] = [];
  const making = vi.spyOn(promises, "mkdtemp").mockImplementation((async (prefix: string) => {
    const path = await mkdtemp(prefix);
    made.push(path);
    if (made.length === 1) made.push((await open()).path);
    return path;
  }) as typeof mkdtemp);
  onTestFinished(() => [later, making].forEach((one) => void one.mockRestore()));

  const { path } = await open();
  expect(made).toHaveLength(4);
  expect(existsSync(made[0] as string)).toBe(false);
  expect(readdirSync(runs).sort()).toEqual([basename(path), basename(made[1] as string)].sort());
  expect(existsSync(join(path, "run.json"))).toBe(true);
});

test("folders of killed runs are removed after a day; those of running ones, of others and links stay", async () => {
  const { all, runs: folder } = temporaryFiles();
  const running = await open();
  utimesSync(running.path, 0, 0);
  const young = join(folder, "svc-sandbox-run-young");
  mkdirSync(young);
  utimesSync(young, 0, agoInSeconds(0.9));
  const left = join(folder, "svc-sandbox-run-left");
  mkdirSync(left);
  utimesSync(left, 0, agoInSeconds(1.1));
  const link = join(folder, "svc-sandbox-run-link");
  symlinkSync(join(all, "others"), link);
  lutimesSync(link, 0, 0);
  const another = join(folder, "svc-sandbox-run-another");
  mkdirSync(another);
  utimesSync(another, 0, 0);
  const user = process.getuid?.();
  // Only an administrator can have a file of another user.
  if (user === 0) chownSync(another, 65_534, 65_534);
  const { path } = await open();
  const kept = [running.path, young, link, path, ...(user === 0 ? [another] : [])];
  expect(readdirSync(folder).sort()).toEqual(kept.map((one) => one.slice(folder.length + 1)).sort());
  expect(existsSync(join(all, "others/run.json"))).toBe(true);
});

test("runs have a folder of their user, unless others may use it too", async () => {
  const { all, runs } = temporaryFiles();
  expect(dirname((await open()).path)).toBe(runs);
  // Only there, old folders are looked for.
  const left = join(all, "svc-sandbox-run-left");
  mkdirSync(left);
  utimesSync(left, 0, 0);
  await open();
  expect(existsSync(left)).toBe(true);
  chmodSync(runs, 0o770);
  expect(dirname((await open()).path)).toBe(all);
});

test("the folder is absolute where that of temporary files is relative", async () => {
  const { all, runs } = temporaryFiles();
  vi.stubEnv("TMPDIR", relative(process.cwd(), all));
  expect(dirname((await open()).path)).toBe(runs);
});

test("a full disk at the start is an error that names the folder", async () => {
  const { runs } = temporaryFiles();
  const full = Object.assign(new Error(), { code: "ENOSPC" });
  const writing = vi.spyOn(promises, "writeFile").mockRejectedValueOnce(full);
  onTestFinished(() => writing.mockRestore());
  await expect(open()).rejects.toMatchObject({
    code: "usage",
    message: expect.stringMatching(new RegExp(`"${runs}.*": the disk is full\\. .* TMPDIR`)),
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

const cutRequests = (count: string) => [
  expect.stringMatching(
    new RegExp(`^At least ${count} of the command could not be counted: .* full disk\\.$`),
  ),
];

test("requests that a full disk has cut are left out and counted, and those after them count", async () => {
  const folder = await open();
  const server = stateOf(createSandbox({ scenario: "active" }));
  const said = takePart(folder.path);
  fillDisk(0, 1, 0.5, 0, 1);
  const sandbox = createSandbox();
  const countAfter = async () => {
    await me(sandbox);
    folder.read(server);
    return [server.journal.requests().length, folder.uncountedSentences()];
  };
  // There is no file yet: only its process knows.
  expect(await countAfter()).toEqual([0, []]);
  expect(() => folder.throwIfRequestsAreMissing()).not.toThrow();
  expect(await countAfter()).toEqual([1, cutRequests("1 request")]);
  expect(await countAfter()).toEqual([1, cutRequests("2 requests")]);
  expect(await countAfter()).toEqual([1, cutRequests("3 requests")]);
  expect(await countAfter()).toEqual([2, cutRequests("3 requests")]);
  expect(() => folder.throwIfChangedByCommand()).not.toThrow();
  expect(() => folder.throwIfRequestsAreMissing()).toThrow(expect.objectContaining({ code: "usage" }));
  expect(said).toEqual([expect.stringMatching(/^svc-sandbox could not count .* ENOSPC\n$/)]);
});

test("an unread response that could not be written is no request that is missing", async () => {
  const folder = await open();
  takePart(folder.path);
  fillDisk(1, 0, 1);
  const sandbox = createSandbox();
  await me(sandbox);
  stateOf(sandbox).counters.countUnread("req_1");
  await me(sandbox);
  const server = stateOf(createSandbox({ scenario: "active" }));
  folder.read(server);
  expect([server.journal.requests().length, folder.uncountedSentences()]).toEqual([2, []]);
});

test("a line without an end may be the last one of a killed process, which needs no other run", async () => {
  const folder = await open();
  appendFileSync(join(folder.path, "requests-1-2-3.jsonl"), '{"version":');
  folder.read(stateOf(createSandbox({ scenario: "active" })));
  expect(folder.uncountedSentences()).toEqual(cutRequests("1 request"));
  expect(() => folder.throwIfRequestsAreMissing()).not.toThrow();
});

test("a cut line with an end after it is a missing request, which needs another run", async () => {
  const folder = await open();
  appendFileSync(join(folder.path, "requests-1-2-3.jsonl"), '{"version":\n');
  folder.read(stateOf(createSandbox({ scenario: "active" })));
  expect(() => folder.throwIfRequestsAreMissing()).toThrow(expect.objectContaining({ code: "usage" }));
});

test("a request that cannot be claimed is told, and certify needs another run", async () => {
  const folder = await open();
  expect([folder.claim("first"), folder.claim("first")]).toEqual([true, false]);
  expect(() => folder.throwIfRequestsAreMissing()).not.toThrow();

  const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  const writing = vi.spyOn(fs, "writeFileSync").mockImplementationOnce(() => {
    throw full;
  });
  onTestFinished(() => writing.mockRestore());
  expect(folder.claim("second")).toBe(false);
  expect(() => folder.throwIfRequestsAreMissing()).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringContaining("the disk is full") }),
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

test("sandboxes of another version are named, once each, and this version is not", async () => {
  const folder = await open();
  takePart(folder.path);
  await me(createSandbox());
  for (const [id, version] of [
    ["1-1-1", "0.0.1"],
    ["2-2-2", "0.0.1"],
    ["3-3-3", "0.0.2"],
  ]) {
    appendFileSync(join(folder.path, `requests-${id}.jsonl`), `${JSON.stringify({ version })}\n`);
  }
  folder.read(stateOf(createSandbox({ scenario: "active" })));
  expect(folder.uncountedSentences()).toEqual([
    expect.stringMatching(
      /^The command has sandboxes of svc-sandbox "0\.0\.1" and "0\.0\.2", whose requests /,
    ),
  ]);
  // certify needs each request.
  expect(() => folder.throwIfRequestsAreMissing()).toThrow(expect.objectContaining({ code: "usage" }));
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

test.each(["null", "1", "[]", "{}", '{"version":"1.0.0"}'])(
  "a run.json that is %s is no run, and no crash",
  async (text) => {
    const said = takePart(temporaryFolder({ "run.json": text }));
    const sandbox = createSandbox();
    expect((await sandbox.fetch("https://api.example/v1/relying-party/me")).status).toBe(401);
    expect(said).toEqual([
      expect.stringMatching(/^svc-sandbox could not count .* run\.json is not the file of a run\n$/),
    ]);
  },
);

test("the options of a sandbox win over those of its run, each of them", async () => {
  const ofRun = { seed: 7, profile: "typical", now: 0, frozen: true } as const;
  takePart((await open(ofRun)).path);
  const own = { seed: 8, profile: "varied", now: 1, frozen: false } as const;
  expect(currentRun()?.optionsFor(own)).toEqual(own);
  expect(currentRun()?.optionsFor({})).toEqual(ofRun);
});
