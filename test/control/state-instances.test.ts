import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  promises,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { SandboxServer, ServerOptions } from "../../src/server/index.js";
import { parseState, signedText } from "../../src/store/state-format.js";
import { control } from "../support/call-control.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Each instance is in its own file, next to the server's.

interface Made {
  readonly id: string;
  readonly base_url: string;
  readonly keys: Readonly<Record<string, string>>;
}

const stateFile = () => join(temporaryFolder(), "state.json");
const fileOf = (state: string, { id }: Made) => join(`${state}.instances`, `${id}.json`);
const filesIn = (state: string) => readdirSync(`${state}.instances`).sort();
const mtimes = (files: readonly string[]) => files.map((file) => statSync(file).mtimeMs);

const start = (state: string, options: Partial<ServerOptions> = {}) =>
  served({ scenario: "active", ...options, state });

const call = ({ controlUrl }: SandboxServer, route: string, body?: object) =>
  control(controlUrl, route, body);
const inside = ({ url }: SandboxServer, { id }: Made, route: string, body?: object) =>
  control(`${url}/i/${id}/__sandbox`, route, body);
const create = async (server: SandboxServer, body: object = {}): Promise<Made> =>
  (await call(server, "POST /instances", body)).body.data;
const send = (server: SandboxServer, { id, keys }: Made) =>
  fetch(`${server.url}/i/${id}${mePath}`, { headers: { "x-api-key": keys.active as string } });
const idsOf = async (server: SandboxServer, made: Made): Promise<string[]> =>
  (await inside(server, made, "GET /requests?limit=1000")).body.data.map(({ id }: { id: string }) => id);

/** Copies the files, as a server that is killed now leaves them. */
function killed(state: string): string {
  const copy = stateFile();
  cpSync(dirname(state), dirname(copy), { recursive: true });
  return copy;
}

test("the scenario that an instance was started with starts again after a restart of the server", async () => {
  const state = stateFile();
  const server = await start(state);
  const bank = { type: "bank", keys: { main: { environment: "test" } } };
  const made = await create(server, { scenario: { version: 1, name: "Sent", organizations: { bank } } });
  await inside(server, made, "PUT /scenario", { name: "revoked" });
  await server.close();
  const next = await start(state);
  const [first] = (await inside(next, made, "GET /scenarios")).body.data;
  expect(first).toMatchObject({ name: "Sent", started_with: true, running: false });
  await inside(next, made, "PUT /scenario", { name: "Sent" });
  expect((await inside(next, made, "GET /keys")).body.data).toMatchObject([{ ref: "main" }]);
});

test("a change writes the file of its sandbox and no other, creating writes one, and removing deletes it", async () => {
  const state = stateFile();
  const server = await start(state);
  expect(existsSync(`${state}.instances`)).toBe(false);
  const [one, other] = [await create(server, { label: "one" }), await create(server)];
  const files = [state, fileOf(state, other)];
  const before = mtimes(files);
  await inside(server, one, "POST /keys/active/revoke", {});
  const third = await create(server);
  await call(server, `DELETE /instances/${third.id}`);
  expect(mtimes(files)).toEqual(before);
  expect(filesIn(state)).toEqual([one, other].map(({ id }) => `${id}.json`).sort());
  const saved = JSON.parse(readFileSync(fileOf(state, one), "utf8"));
  expect(saved.instances).toMatchObject([{ id: one.id, label: "one", sandbox: { name: "active" } }]);
  expect(statSync(fileOf(state, one)).mode & 0o777).toBe(0o600);

  const after = await start(killed(state));
  expect((await send(after, one)).status).toBe(401);
  expect((await send(after, other)).status).toBe(200);
  expect((await call(after, "GET /instances")).body.total).toBe(2);
});

test("only its owner can use the folders and files of a state, also with umask 000 and after a restart", async () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const state = join(dirname(stateFile()), "new/state.json");
  const server = await start(state);
  const file = fileOf(state, await create(server));
  const folder = dirname(file);
  const modes = () => [dirname(state), state, folder, file].map((one) => statSync(one).mode & 0o777);
  expect(modes()).toEqual([0o700, 0o600, 0o700, 0o600]);
  await server.close(0);
  chmodSync(folder, 0o777);
  await start(state);
  expect(modes()).toEqual([0o700, 0o600, 0o700, 0o600]);
});

test("POST /instances twice with the same Idempotency-Key makes one instance, also after a restart", async () => {
  const state = stateFile();
  const server = await start(state);
  const post = async (on: SandboxServer, key: string, label: string) => {
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const init = { method: "POST", headers, body: JSON.stringify({ label }) };
    const response = await fetch(`${on.controlUrl}/instances`, init);
    return { status: response.status, ...((await response.json()) as { data: Made & { token: string } }) };
  };
  const [first, other] = [await post(server, "a", "one"), await post(server, "b", "one")];
  const again = await post(await start(killed(state)), "a", "one");
  // The file of a broken instance stays for its owner.
  const copy = killed(state);
  writeFileSync(fileOf(copy, first.data), "{");
  expect((await post(await start(copy, { onDefect() {} }), "a", "one")).status).toBe(500);
  expect(readFileSync(fileOf(copy, first.data), "utf8")).toBe("{");
  const { token, claim_url: _, ...made } = again.data as Made & { token: string; claim_url: string };
  expect([again.status, made.id, other.data.id === made.id]).toEqual([201, first.data.id, false]);
  expect(made).toMatchObject({ keys: first.data.keys });
  expect(token).not.toBe(first.data.token);
  expect((await post(server, "a", "two")).status).toBe(422);
  expect((await call(server, "GET /instances")).body.total).toBe(2);
});

test("an instance that expires loses its file", async () => {
  const state = stateFile();
  const server = await start(state);
  await create(server, { expires: "1s" });
  await expect.poll(() => filesIn(state)).toEqual([]);
});

test("requests to 50 instances are in their files soon, and when the server stops, and R7 no id is given out twice", async () => {
  const state = stateFile();
  const server = await start(state);
  const made = await Promise.all(Array.from({ length: 50 }, () => create(server, { seed: 1 })));
  for (let n = 0; n < 3; n += 1) await Promise.all(made.map((one) => send(server, one)));
  const savedIn = (one: Made) => {
    const file = fileOf(state, one);
    return parseState(readFileSync(file, "utf8"), file).instances[0]?.sandbox.exchanges.length;
  };
  await expect.poll(() => made.map(savedIn)).toEqual(made.map(() => 3));
  // The server's own report counts them as well.
  const counted = () => parseState(readFileSync(state, "utf8"), state).own?.counts.requests;
  await expect.poll(counted).toBe(150);
  const ids = (on: SandboxServer) => Promise.all(made.map((one) => idsOf(on, one)));
  const before = await ids(server);
  const copy = killed(state);
  const after = await start(copy);
  expect(await ids(after)).toEqual(before);
  expect((await call(after, "GET /report")).body.data.requests).toBe(150);
  const usage = (await inside(after, made[0] as Made, "GET /keys/active")).body.data.usage;
  expect(usage.today).toBe(3);
  // The first server goes on with ids that a kill would lose.
  for (const one of [after, server]) await Promise.all(made.map((instance) => send(one, instance)));
  const all = [...(await ids(after)), ...(await ids(server)).map((one) => one.slice(3))].flat();
  expect([all.length, new Set(all).size]).toEqual([250, 250]);
  await after.close();
  const last = await start(copy);
  expect((await ids(last)).map(({ length }) => length)).toEqual(made.map(() => 4));
  expect((await call(last, "GET /report")).body.data.requests).toBe(200);
});

test.each([
  ["is cut", (text: string) => text.slice(0, 900), "or only a part"],
  [
    "was edited",
    (text: string) => text.replace('"active":{', '"active":{"colour":"red",'),
    "missing or damaged",
  ],
  ["is empty", () => "", "or only a part"],
  [
    "is of a later format",
    (text: string) => text.replace(/("svc_sandbox_state":)\d+/, "$1 9"),
    "it has format 9",
  ],
])(
  "an instance whose file %s gets 500 with the reason, and the others are served",
  async (_title, change, why) => {
    const state = stateFile();
    const before = await start(state);
    const [broken, whole] = [await create(before), await create(before)];
    await before.close();
    const file = fileOf(state, broken);
    const text = change(readFileSync(file, "utf8"));
    writeFileSync(file, text);

    const defects: Error[] = [];
    const server = await start(state, { onDefect: (error) => defects.push(error as Error) });
    const shown = `${basename(file)}": `;
    expect(defects.map(({ message }) => message)).toEqual([expect.stringContaining(shown)]);
    expect(defects[0]?.message).toContain(why);
    expect((await send(server, whole)).status).toBe(200);
    const response = await send(server, broken);
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([
      500,
      { code: "internal_error", message: expect.stringContaining(why) },
    ]);
    expect((await call(server, `POST /instances/${broken.id}/claim`, { code: "x" })).status).toBe(500);
    expect((await call(server, `POST /instances/${broken.id}/link`, {})).status).toBe(500);
    expect((await call(server, "GET /ready")).body).toMatchObject({ status: "ready", broken_instances: 1 });
    const metrics = await (await fetch(`${server.controlUrl}/metrics`)).text();
    expect(metrics).toContain("\nsvc_sandbox_file_broken_instances 1\n");
    const listed = (await call(server, "GET /instances")).body;
    expect([listed.data, listed.broken]).toEqual([
      [expect.objectContaining({ id: whole.id })],
      [{ id: broken.id, reason: expect.stringContaining(why) }],
    ]);
    const exported = (await call(server, "GET /export")).body;
    expect([exported.without, exported.instances.length]).toEqual([[broken.id], 1]);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect((await call(server, `DELETE /instances/${broken.id}`)).status).toBe(204);
    // The requests of the other one may be on their way to its file.
    await expect.poll(() => filesIn(state)).toEqual([`${whole.id}.json`]);
    expect((await call(server, "GET /ready")).body.broken_instances).toBeUndefined();
  },
);

test("instances without the file of the server's own sandbox continue, and R7 get new request ids", async () => {
  const state = stateFile();
  const before = await start(state);
  const made = await create(before);
  await before.close();
  const copy = killed(state);
  const ids = [];
  for (const file of [state, copy]) {
    rmSync(file);
    const after = await start(file);
    expect((await send(after, made)).status).toBe(200);
    ids.push(...(await idsOf(after, made)));
  }
  expect(new Set(ids).size).toBe(2);
});

test("an instance whose file cannot be written gets 507 for a change, and the others are saved", async () => {
  const state = stateFile();
  const defects: unknown[] = [];
  const server = await start(state, { onDefect: (error) => defects.push(error) });
  const [one, other] = [await create(server), await create(server)];
  mkdirSync(`${fileOf(state, one)}.svc-sandbox-draft`);
  const revoke = async (made: Made) => (await inside(server, made, "POST /keys/active/revoke", {})).status;
  expect([await revoke(one), await revoke(other)]).toEqual([507, 200]);
  expect(defects).toHaveLength(1);
  expect((await call(server, "GET /health")).body.state).toBe("unwritable");
  rmSync(`${fileOf(state, one)}.svc-sandbox-draft`, { recursive: true });
  await expect.poll(async () => (await call(server, "GET /health")).body.state).toBe("saved");
  expect((await send(await start(killed(state)), one)).status).toBe(401);
});

test("an instance keeps its idle time over a restart, and a stop does not count", async () => {
  const state = stateFile();
  const before = await start(state);
  const made = await create(before);
  await before.close();
  const file = fileOf(state, made);
  const { sum: _, instances, ...saved } = JSON.parse(readFileSync(file, "utf8"));
  const [{ usedAt, ...rest }] = instances;
  writeFileSync(file, signedText({ ...saved, instances: [{ ...rest, usedAt: usedAt - 1_800_000 }] }));
  const seconds = (await call(await start(state), "GET /instances")).body.data[0].idle_seconds;
  expect(seconds).toBeGreaterThanOrEqual(1800);
  expect(seconds).toBeLessThan(2400);
});

test("on a slow disk, a change waits for its own write, and nobody else for it; a metric shows what is unsaved", async () => {
  const server = await start(stateFile());
  const [slow, other] = [await create(server), await create(server)];
  const { rename } = promises;
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const renamed = vi.spyOn(promises, "rename").mockImplementation(async (from, to) => {
    if (String(to).includes(slow.id)) await released;
    return rename(from, to);
  });
  onTestFinished(() => {
    letGo();
    renamed.mockRestore();
  });
  const unsaved = async () => {
    const metrics = await (await fetch(`${server.controlUrl}/metrics`)).text();
    return Number(/^svc_sandbox_file_unsaved_seconds (\S+)$/m.exec(metrics)?.[1]);
  };
  let isDone = false;
  const change = inside(server, slow, "POST /keys/active/revoke", {}).finally(() => {
    isDone = true;
  });
  await expect.poll(() => renamed.mock.calls.some(([, to]) => String(to).includes(slow.id))).toBe(true);
  expect((await inside(server, other, "POST /keys/active/revoke", {})).status).toBe(200);
  expect((await call(server, "POST /keys/active/revoke", {})).status).toBe(200);
  // The running sandbox has the change.
  expect([(await send(server, slow)).status, (await send(server, other)).status]).toEqual([401, 401]);
  expect(await unsaved()).toBeGreaterThan(0);
  expect(isDone).toBe(false);
  letGo();
  expect((await change).status).toBe(200);
  await expect.poll(unsaved).toBe(0);
});

test("the file of an instance that is too long is not read, and the others are served", async () => {
  const state = stateFile();
  const before = await start(state);
  const [long, whole] = [await create(before), await create(before)];
  await before.close();
  truncateSync(fileOf(state, long), 100 * 2 ** 20);
  const server = await start(state);
  const response = await send(server, long);
  expect([response.status, (await response.json()) as object]).toEqual([
    500,
    { error: { code: "internal_error", message: expect.stringContaining("it has 100 MB") } },
  ]);
  expect((await send(server, whole)).status).toBe(200);
});
