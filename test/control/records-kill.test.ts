import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { loanRecords, loans, scenarioOf } from "../records/sandbox.js";
import { isNightly } from "../support/property-seed.js";
import { type SavedServer, startSaved } from "../support/running-command.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scenario = scenarioOf({ openapi: loans, records: loanRecords });
const kills = isNightly ? 60 : 3;
const clients = ["main", "second", "live", "others"];

/** What clients know: the acknowledged amount of each record, `gone`, or `unknown` after a request without a response. */
type Known = Map<string, number | "gone" | "unknown">;

async function ask({ url, keys }: SavedServer, key: string, call: string, body?: object) {
  const [method, path] = call.split(" ") as [string, string];
  const headers = { "x-api-key": keys[key] as string, "content-type": "application/json" };
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, data: text === "" ? undefined : JSON.parse(text).data };
}

/** Creates, changes and removes records of a key, until the server is gone. */
async function writeUntilGone(
  server: SavedServer,
  key: string,
  known: Known,
  count: () => void,
): Promise<void> {
  for (let amount = 1; ; amount++) {
    const made = await ask(server, key, "POST /loans", { amount });
    expect(made.status).toBe(201);
    // Nobody has ever got this id.
    expect([...known.keys()]).not.toContain(made.data.id);
    known.set(made.data.id, amount);
    count();
    const { id } = made.data;
    known.set(id, "unknown");
    expect((await ask(server, key, `PATCH /loans/${id}`, { amount: amount + 1000 })).status).toBe(200);
    known.set(id, amount + 1000);
    count();
    if (amount % 3 !== 0) continue;
    known.set(id, "unknown");
    expect((await ask(server, key, `DELETE /loans/${id}`)).status).toBe(204);
    known.set(id, "gone");
    count();
  }
}

async function killAfter(server: SavedServer, known: ReadonlyMap<string, Known>, max: number): Promise<void> {
  let done = 0;
  const gone = once(server.child, "exit");
  const count = () => {
    done += 1;
    if (done === max) server.child.kill("SIGKILL");
  };
  const all = clients.map((key) => writeUntilGone(server, key, known.get(key) as Known, count));
  // Only the kill ends a client.
  for (const { reason } of (await Promise.allSettled(all)) as PromiseRejectedResult[])
    expect(reason).toBeInstanceOf(TypeError);
  await gone;
}

test(`after kill -9 among requests no acknowledged record is lost and no id is given twice, ${kills} times over`, async () => {
  const cwd = temporaryFolder({
    "sandbox.json": JSON.stringify(scenario),
  });
  const known = new Map(clients.map((key) => [key, new Map() as Known]));
  let server = await startSaved(cwd);
  for (let i = 0; i < kills; i++) {
    await killAfter(server, known, 10 + ((i * 37) % 90));
    server = await startSaved(cwd);
    for (const key of clients) {
      for (const [id, amount] of known.get(key) as Known) {
        if (amount === "unknown") continue;
        const { status, data } = await ask(server, key, `GET /loans/${id}`);
        expect([id, status === 404 ? "gone" : data.amount]).toEqual([id, amount]);
      }
    }
  }
  const ids = [...known.values()].flatMap((one) => [...one.keys()]);
  expect(new Set(ids).size).toBe(ids.length);
  server.child.kill("SIGKILL");
}, 960_000);

test("a request gets 503 while its record cannot be in the file, which follows once there is room", async () => {
  const folder = join(temporaryFolder(), "volume");
  mkdirSync(folder);
  const state = join(folder, "state.json");
  const server = await served({
    scenario: parseScenario(JSON.stringify(scenario)),
    state,
    onDefect: () => {},
  });
  const headers = { "x-api-key": server.sandbox.secret("main"), "content-type": "application/json" };
  const create = (amount: number) =>
    fetch(`${server.url}/loans`, { method: "POST", headers, body: JSON.stringify({ amount }) });
  expect((await create(1)).status).toBe(201);
  rmSync(folder, { recursive: true });
  const rejected = await create(2);
  expect([rejected.status, (await rejected.json()) as unknown]).toMatchObject([503, { error: {} }]);
  // A request that changes nothing waits for no file.
  expect((await fetch(`${server.url}/loans`, { headers })).status).toBe(200);
  mkdirSync(folder);
  await expect.poll(() => existsSync(state)).toBe(true);
  expect((await create(3)).status).toBe(201);
  expect(readFileSync(state, "utf8").match(/"amount":[123]\b/g)).toContain('"amount":3');
});
