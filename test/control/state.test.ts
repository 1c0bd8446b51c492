import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { SandboxError, Scenario } from "../../src/index.js";
import { nodePlatform } from "../../src/node/platform.js";
import type { SandboxServer, ServerOptions } from "../../src/server/index.js";
import { control } from "../support/call-control.js";
import { exchange } from "../support/exchange.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const pinned = "SVC_test_sbxPinnedByTheScenario0000000";
const own: Scenario = {
  version: 1,
  name: "Own",
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    "a-bank": {
      type: "bank",
      live_access: "approved",
      keys: {
        main: { environment: "test" },
        other: { environment: "test" },
        pinned: { environment: "test", secret: pinned },
      },
    },
  },
};
const newKey = { organization: "a-bank", environment: "test", name: "CI" };

const stateFile = () => join(temporaryFolder(), "state.json");

const start = (state: string, options: Partial<ServerOptions> = {}) =>
  served({ scenario: own, ...options, state });

/** Starts on a copy of the file, as it would be left behind if the server were killed now. */
function restart(file: string, options?: Partial<ServerOptions>): Promise<SandboxServer> {
  const copy = stateFile();
  writeFileSync(copy, readFileSync(file));
  return start(copy, options);
}

const statusOf = async ({ url }: SandboxServer, secret: string) =>
  (await fetch(`${url}/v1/relying-party/me`, { headers: { "x-api-key": secret } })).status;
const call = ({ controlUrl }: SandboxServer, line: string, body?: object) => control(controlUrl, line, body);
const dataOf = async (server: SandboxServer, line: string, body?: object) =>
  (await call(server, line, body)).body.data;

/** The saved sandbox of a file. */
const savedIn = (file: string) => JSON.parse(readFileSync(file, "utf8")).sandbox;
const savedKeyIn = (file: string, wanted: string) =>
  savedIn(file).keys.find(({ ref }: { readonly ref: string }) => ref === wanted);

test("R7 after resets and kills, request ids continue without a repeat", async () => {
  const ids: string[] = [];
  let file = stateFile();
  for (const resets of [0, 3, 5]) {
    const server = await start(file);
    for (let sent = 0; sent <= resets; sent++) {
      if (sent > 0) await call(server, "POST /reset", {});
      const headers = { "x-api-key": server.sandbox.secret("main") };
      ids.push((await fetch(server.url + mePath, { headers })).headers.get("x-request-id") as string);
    }
    // What a kill would leave behind now.
    const left = stateFile();
    writeFileSync(left, readFileSync(file));
    file = left;
  }
  expect([ids.length, new Set(ids).size]).toEqual([11, 11]);
});

test("R7 after a reset by the program of the server and a kill, no request id is given out twice", async () => {
  const file = stateFile();
  const server = await start(file);
  server.sandbox.reset();
  await fetch(server.url + mePath);
  const again = await restart(file);
  await fetch(again.url + mePath);
  const [before, after] = [server, again].map(({ sandbox }) => sandbox.requests.list().at(-1)?.id);
  expect(after).toBeDefined();
  expect(after).not.toBe(before);
});

test("after a kill, the journal, the report, the story and all views are as they were", async () => {
  const file = stateFile();
  const scenario: Scenario = { ...own, story: [{ request: { key: "main" } }, { revoke: { key: "other" } }] };
  const seen = async (server: SandboxServer) => {
    const names = ["state", "requests", "report", "story", "clock", "organizations", "keys", "assumptions"];
    const views = await Promise.all(names.map((name) => dataOf(server, `GET /${name}`)));
    return JSON.parse(JSON.stringify(views).replaceAll(server.url, "<server>"));
  };
  const before = await start(file, { scenario });
  const key = before.sandbox.secret("main");
  for (const one of [key, "SVC_test_sbx00000000000000000000000000000"]) await statusOf(before, one);
  await fetch(`${before.url}${mePath}?api_key=${key}`, { headers: { "x-api-key": key } });
  await dataOf(before, "POST /story/next", {});
  await dataOf(before, "POST /clock/advance", { by: "1s" });
  const after = await restart(file, { scenario });
  const [{ changed }] = await seen(after);
  expect(changed).toBe(true);
  expect(await seen(after)).toEqual(await seen(before));
  expect(after.sandbox.requests.list().map(({ outcome }) => outcome)).toEqual([
    "200.test",
    "401.unknown",
    "200.test",
    "200.test",
  ]);
  await statusOf(after, key);
  expect(after.sandbox.report().requests).toBe(4);
});

test("a rotated key and a repeated rejection cause the same advice after a restart", async () => {
  const file = stateFile();
  const before = await start(file);
  const { secret } = await dataOf(before, "POST /keys/main/rotate", { overlap: "60m" });
  expect(await statusOf(before, secret)).toBe(200);
  await call(before, "POST /keys/other/revoke", {});
  expect(await statusOf(before, before.sandbox.secret("other"))).toBe(401);
  await before.close();
  const after = await restart(file);
  await statusOf(after, after.sandbox.secret("main"));
  await statusOf(after, after.sandbox.secret("other"));
  const adviceOf = (key: string) => after.sandbox.requests.list({ key }).at(-1)?.advice;
  expect(adviceOf("main")).toEqual(["old-key-after-replacement-seen"]);
  expect(adviceOf("other")).toEqual(["sent-again-after-rejection"]);
});

test("a page that asked to send a key is still known after a restart", async () => {
  const file = stateFile();
  const before = await start(file);
  const origin = "https://shop.example";
  const preflight = { "access-control-request-method": "GET", "access-control-request-headers": "x-api-key" };
  await exchange(before.url + mePath, { method: "OPTIONS", headers: { origin, ...preflight } });
  await before.close();
  const after = await restart(file);
  const headers = { origin, "x-api-key": after.sandbox.secret("main") };
  await exchange(after.url + mePath, { headers });
  expect(after.sandbox.requests.list().at(-1)?.advice).toEqual(["key-from-browser"]);
});

test("a client that gave up is in the file soon", async () => {
  const file = stateFile();
  const faults = [{ when: { key: "main" }, then: { latency: "1m" as const } }];
  const { url, sandbox } = await start(file, { scenario: { ...own, faults } });
  const giveUp = new AbortController();
  const headers = { "x-api-key": sandbox.secret("main") };
  const waiting = fetch(url + mePath, { headers, signal: giveUp.signal });
  await expect.poll(() => savedIn(file).total).toBe(1);
  giveUp.abort();
  await expect(waiting).rejects.toThrow();
  await expect.poll(() => savedIn(file).counts.unread).toBe(1);
});

test("a start removes the draft of a server that was killed", async () => {
  const file = stateFile();
  await (await start(file)).close();
  const draft = `${file}.svc-sandbox-draft`;
  writeFileSync(draft, "half");
  await start(file);
  expect(existsSync(draft)).toBe(false);
});

test("requests are in the file soon, and when the server stops", async () => {
  const file = stateFile();
  const server = await start(file);
  await statusOf(server, server.sandbox.secret("main"));
  const written = () => savedKeyIn(file, "main").usage.dayCount;
  await expect.poll(written).toBe(1);
  await statusOf(server, server.sandbox.secret("main"));
  await server.close();
  expect(written()).toBe(2);
  const after = await start(file);
  expect(after.sandbox.keys.get("main").usage).toEqual({ thisMinute: 2, today: 2 });
});

test("fake timers of a test suite do not keep requests from being saved", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const file = stateFile();
  const server = await start(file);
  await statusOf(server, server.sandbox.secret("main"));
  const { setImmediate: turn } = process.getBuiltinModule("node:timers");
  // Ends with the test's own time if it is never saved.
  while (savedIn(file).total !== 1) await new Promise((resolve) => turn(resolve));
});

test("reset after a restart goes back to the scenario, with the seed and the clock of the first start", async () => {
  const file = stateFile();
  const before = await start(file, { seed: 7, now: "2027-01-01T00:00:00Z", profile: "typical" });
  const expected = await dataOf(before, "GET /state");
  await call(before, "POST /keys/main/revoke", {});
  await call(before, "POST /clock/advance", { by: "1d" });

  const after = await restart(file, { seed: 8 });
  expect(after.sandbox.seed).toBe(7);
  await call(after, "POST /reset", {});
  expect(await dataOf(after, "GET /state")).toEqual(expected);
  expect(after.sandbox.secret("main")).toBe(before.sandbox.secret("main"));
});

test.each([
  ["a running clock goes on by the time that has passed", false, -3_600_000, 3_600_000],
  ["a frozen clock stays", true, -3_600_000, 0],
  ["a wall clock that was set back does not move the sandbox's back", false, 3_600_000, 0],
] as const)("%s", async (_title, frozen, shift, moved) => {
  const file = stateFile();
  const before = await start(file, { frozen });
  const wallClock = vi.spyOn(nodePlatform, "time").mockImplementation(() => Date.now() + shift);
  onTestFinished(() => void wallClock.mockRestore());
  await call(before, "POST /clock/advance", { by: "1h" });
  wallClock.mockRestore();
  const expected = savedIn(file).clock.now + moved;
  const now = Date.parse((await restart(file)).sandbox.clock.now());
  expect(now).toBeGreaterThanOrEqual(expected);
  // Time has passed meanwhile on a busy machine.
  expect(now).toBeLessThan(expected + (frozen ? 1 : 600_000));
});

test("a later scenario continues after a restart; new scenarios start with the options", async () => {
  const file = stateFile();
  const before = await start(file, { seed: 7 });
  await call(before, "PUT /scenario", { name: "rotation" });
  await call(before, "POST /keys", { ...newKey, organization: "amberfield-mutual" });
  const after = await restart(file, { seed: 8 });
  const { sandbox } = after;
  expect([sandbox.name, sandbox.seed, sandbox.keys.get("ci").state]).toEqual(["rotation", 7, "active"]);
  await call(after, "POST /reset", {});
  expect([sandbox.name, sandbox.seed]).toEqual(["rotation", 7]);
  await call(after, "PUT /scenario", { name: "active" });
  expect(sandbox.seed).toBe(8);
});

test("R35 a change is in the file before its response; the file has only secrets that the scenario pins, and only its owner can read it", async () => {
  const file = stateFile();
  const server = await start(file);
  const { secret } = await dataOf(server, "POST /keys", newKey);
  const text = readFileSync(file, "utf8");
  expect(savedKeyIn(file, "ci")).toMatchObject({ name: "CI" });
  expect(text).not.toContain(secret);
  expect(text).not.toContain(server.sandbox.secret("main"));
  expect(text).toContain(pinned);
  expect(text).toContain(`"sha256":"`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(file))).toEqual([basename(file)]);
});

/** What the probes and the health show of the file. */
const shownBy = async (server: SandboxServer) => {
  const [ready, health] = [await call(server, "GET /ready"), await call(server, "GET /health")];
  return [ready.status, ready.body.state, health.body.state];
};

/** Each breaks the writing of a file, and returns how to mend it. */
const failures: Readonly<Record<string, (folder: string) => () => void>> = {
  "its folder is gone": (folder) => {
    renameSync(folder, `${folder}-away`);
    return () => renameSync(`${folder}-away`, folder);
  },
  "its folder rejects a draft": (folder) => {
    // Even root cannot replace a folder by the draft of a file.
    const draft = join(folder, "state.json.svc-sandbox-draft");
    mkdirSync(draft);
    return () => rmSync(draft, { recursive: true });
  },
  "its disk is full": () => {
    const spy = vi.spyOn(fs, "writeFileSync").mockImplementation(() => {
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    });
    syncBuiltinESMExports();
    const mend = () => {
      spy.mockRestore();
      syncBuiltinESMExports();
    };
    onTestFinished(mend);
    return mend;
  },
};

test.each(Object.entries(failures))(
  "while %s, a change gets 507 with its result, the server is ready and responds, and the next change writes everything",
  async (_title, fail) => {
    const folder = join(temporaryFolder(), "volume");
    mkdirSync(folder);
    const file = join(folder, "state.json");
    const defects: unknown[] = [];
    const server = await start(file, { onDefect: (error) => defects.push(error) });
    const text = readFileSync(file, "utf8");
    const mend = fail(folder);
    const { status, body } = await call(server, "POST /keys/main/revoke", {});
    // It has happened.
    expect(server.sandbox.keys.get("main").state).toBe("revoked");
    expect([status, body.error.code]).toEqual([507, "state_unwritable"]);
    const made = await call(server, "POST /keys", newKey);
    expect([made.status, made.body.error.code]).toEqual([507, "state_unwritable"]);
    const { secret } = made.body.error.details.data;
    expect(await statusOf(server, secret)).toBe(200);
    expect(await statusOf(server, server.sandbox.secret("other"))).toBe(200);
    expect(defects.map((one) => (one as SandboxError).code)).toEqual(["state_unwritable"]);
    expect(await shownBy(server)).toEqual([200, "unwritable", "unwritable"]);
    mend();
    // Its timer may have tried before this call.
    expect(text).not.toContain('"ci"');
    expect((await call(server, "POST /keys/other/revoke", {})).status).toBe(200);
    expect(await shownBy(server)).toEqual([200, "saved", "saved"]);
    const after = (await restart(file)).sandbox.keys;
    for (const [ref, state] of Object.entries({ main: "revoked", ci: "active", other: "revoked" })) {
      expect(after.get(ref)).toMatchObject({ ref, state });
    }
  },
);

test.each(["POST /reset", "PUT /scenario"])(
  "while the file cannot be written, %s runs the steps that are due at the start, and its 507 has its result",
  async (line) => {
    const folder = join(temporaryFolder(), "volume");
    mkdirSync(folder);
    const scenario: Scenario = {
      ...own,
      timeline: [{ at: "2026-03-02T09:00:00Z", revoke: { key: "main" } }],
    };
    const server = await start(join(folder, "state.json"), { scenario, onDefect: () => {} });
    renameSync(folder, `${folder}-away`);
    onTestFinished(() => renameSync(`${folder}-away`, folder));

    const started = line === "POST /reset" ? { seed: 8 } : { name: server.sandbox.name };
    const { status, body } = await call(server, line, started);
    expect([status, body.error.code]).toEqual([507, "state_unwritable"]);
    expect(body.error.details.data).toMatchObject({ scenario: "Own" });
    expect(server.sandbox.keys.get("main").state).toBe("revoked");
  },
);

test.each([
  ["in place", (file: string, text: string) => writeFileSync(file, text)],
  [
    "as another file",
    (file: string, text: string) => {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    },
  ],
] as const)(
  "a change is not acknowledged once another container has written the file %s, whose changes stay",
  async (_title, write) => {
    const file = stateFile();
    const first = await start(file, { onDefect: () => {} });
    // The lock does not reach another container on the same volume.
    const others = stateFile();
    writeFileSync(others, readFileSync(file));
    const { key } = await dataOf(await start(others), "POST /keys", newKey);
    const theirs = readFileSync(others, "utf8");
    write(file, theirs);
    const { status, body } = await call(first, "POST /keys/main/revoke", {});
    expect([status, body.error.code]).toEqual([507, "state_unwritable"]);
    expect(body.error.message).toContain("another container");
    expect(await shownBy(first)).toEqual([200, "unwritable", "unwritable"]);
    await expect(first.close(0)).rejects.toMatchObject({ code: "state_unwritable" });
    expect(readFileSync(file, "utf8")).toBe(theirs);
    expect((await restart(file)).sandbox.keys.get(key.ref).state).toBe("active");
  },
);

test("a last save that fails is the error of the close, and is reported nowhere else", async () => {
  const file = stateFile();
  const defects: unknown[] = [];
  const server = await start(file, { onDefect: (error) => defects.push(error) });
  // Even root cannot replace a folder by the draft of a file.
  mkdirSync(`${file}.svc-sandbox-draft`);
  await expect(server.close(0)).rejects.toMatchObject({ code: "state_unwritable" });
  expect(defects).toEqual([]);
});

test("a file that has vanished is written again with the next change, and at the stop", async () => {
  const file = stateFile();
  const server = await start(file);
  rmSync(file);
  expect((await call(server, "POST /keys/main/revoke", {})).status).toBe(200);
  expect((await restart(file)).sandbox.keys.get("main").state).toBe("revoked");
  rmSync(file);
  await server.close();
  expect((await restart(file)).sandbox.keys.get("main").state).toBe("revoked");
});

test("a whole state on a disk that cannot be written is served after a restart, and saved once it can be", async () => {
  const folder = join(temporaryFolder(), "volume");
  const file = join(folder, "state.json");
  const before = await start(file);
  await call(before, "POST /keys/main/revoke", {});
  await before.close();
  const text = readFileSync(file, "utf8");
  // Even root cannot replace a folder by the draft of a file.
  mkdirSync(`${file}.svc-sandbox-draft`);
  const defects: unknown[] = [];
  const after = await start(file, { onDefect: (error) => defects.push((error as SandboxError).code) });
  expect(defects).toEqual(["state_unwritable"]);
  expect((await call(after, "GET /health")).body.state).toBe("unwritable");
  expect((await call(after, "POST /keys/other/revoke", {})).status).toBe(507);
  expect(readFileSync(file, "utf8")).toBe(text);
  rmSync(`${file}.svc-sandbox-draft`, { recursive: true });
  await expect.poll(async () => (await call(after, "GET /health")).body.state).toBe("saved");
  expect((await restart(file)).sandbox.keys.get("other").state).toBe("revoked");
});

test("a timeline and a story continue after a restart", async () => {
  const file = stateFile();
  const scenario: Scenario = {
    ...own,
    timeline: [
      { at: "10m", rotate: { key: "main", as: "next", overlap: "0s" } },
      { at: "30m", revoke: { key: "next" } },
    ],
    story: [{ say: "One." }, { rotate: { key: "other", as: "told" } }, { request: { key: "told" } }],
  };
  const before = await start(file, { scenario });
  const next = async (server: SandboxServer) => (await dataOf(server, "POST /story/next", {})).step;
  await call(before, "POST /clock/advance", { by: "20m" });
  await next(before);
  const { secret } = (await next(before)).performed;
  const after = await restart(file, { scenario });
  expect(after.sandbox.keys.list()).toEqual(before.sandbox.keys.list());
  expect(await dataOf(after, "GET /story")).toMatchObject({ done: 2, steps: 3 });
  // Its secret is in no file: the seed gives it again.
  expect(readFileSync(file, "utf8")).not.toContain(secret);
  expect(await next(after)).toMatchObject({ number: 3, of: 3, response: { status: 200 } });
  await call(after, "POST /clock/advance", { by: "10m" });
  const revoked = { state: "revoked", revokedAt: "2026-03-02T09:30:00.000Z" };
  expect(after.sandbox.keys.get("next")).toMatchObject(revoked);
  await call(after, "POST /reset", {});
  expect(after.sandbox.keys.list().map(({ ref }) => ref)).toEqual(["main", "other", "pinned"]);
  expect(await dataOf(after, "GET /story")).toMatchObject({ done: 0, steps: 3 });
});
