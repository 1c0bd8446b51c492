import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { control } from "../support/call-control.js";
import { freePort, noRedis, startRedis } from "../support/redis-server.js";
import { type RunningCommand, startBin } from "../support/running-command.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Replicas and the store fail while administrators work: what was acknowledged holds, everywhere and once.

interface ListedKey {
  readonly ref: string;
  readonly organization: string;
  readonly name: string;
  readonly state: string;
}

const banks = Array.from({ length: 8 }, (_, n) => `bank-${n}`);
const scenario = {
  version: 1,
  organizations: Object.fromEntries(
    banks.map((bank) => [bank, { type: "bank", keys: { [`first-of-${bank}`]: { environment: "test" } } }]),
  ),
};

/** Three replicas on ports of their own, of which each can be started again. */
async function startReplicas(store: string) {
  const file = join(temporaryFolder(), "banks.yaml");
  writeFileSync(file, JSON.stringify(scenario));
  const ports = [await freePort(), await freePort(), await freePort()];
  const running: RunningCommand[] = [];
  const start = async (index: number) => {
    const port = String(ports[index]);
    const bin = startBin(["start", file, "--port", port, "--json", "--log", "off", "--store", store]);
    running[index] = bin;
    await bin.until(/"listening"/);
  };
  await Promise.all(ports.map((_, index) => start(index)));
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    start,
    signal: (index: number, name: NodeJS.Signals) => void running[index]?.child.kill(name),
  };
}

/** Makes keys, uses and revokes them, each time through another replica, until it is stopped. */
function administer(bank: string, urls: readonly string[]) {
  const made: string[] = [];
  const revoked = new Set<string>();
  const stale: string[] = [];
  let turn = banks.indexOf(bank);
  let isStopped = false;
  const next = () => {
    turn += 1;
    return urls[turn % urls.length] as string;
  };
  // A replica that is killed, or paused, or without its store, gives no response that counts.
  const ask = (call: string, body?: object) =>
    control(`${next()}/__sandbox`, call, body).catch(() => ({ status: 0, body: undefined }));
  const statusAt = (url: string, key: string) =>
    fetch(url + mePath, { headers: { "x-api-key": key } }).then(
      ({ status }) => status,
      () => 0,
    );
  const revoke = async (ref: string) => {
    if ((await ask(`POST /keys/${ref}/revoke`, {})).status !== 200) return false;
    revoked.add(ref);
    return true;
  };
  // Those of which it was not known whether they were made fill the bank.
  const makeRoom = async () => {
    const keys: readonly ListedKey[] = (await ask("GET /keys")).body?.data ?? [];
    for (const { ref, organization, state } of keys) {
      if (organization === bank && state === "active" && !ref.startsWith("first-of-")) await revoke(ref);
    }
  };
  const run = async () => {
    for (let n = 0; !isStopped; n += 1) {
      const { status, body } = await ask("POST /keys", {
        organization: bank,
        environment: "test",
        name: `Key ${n}`,
      });
      if (status !== 201) {
        if (status === 409) await makeRoom();
        continue;
      }
      const { key, secret } = body.data;
      made.push(key.ref);
      if (!(await revoke(key.ref))) continue;
      const statuses = await Promise.all(urls.map((url) => statusAt(url, secret)));
      if (statuses.includes(200)) stale.push(key.ref);
    }
  };
  const running = run();
  return {
    made,
    revoked,
    stale,
    stop() {
      isStopped = true;
      return running;
    },
  };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(noRedis)("what was acknowledged", () => {
  test("is neither lost, doubled nor stale when replicas are killed and paused, and Redis crashes", async () => {
    const redis = await startRedis();
    onTestFinished(redis.close);
    const { urls, start, signal } = await startReplicas(redis.url);
    const administrators = banks.map((bank) => administer(bank, urls));
    const allGoOn = async () => {
      const before = administrators.map(({ revoked }) => revoked.size);
      await expect
        .poll(() => administrators.every(({ revoked }, of) => revoked.size > (before[of] as number) + 1), {
          timeout: 60_000,
        })
        .toBe(true);
    };
    for (let round = 0; round < 3; round += 1) {
      await allGoOn();
      signal(round, "SIGKILL");
      await start(round);
      await allGoOn();
      const paused = (round + 1) % 3;
      signal(paused, "SIGSTOP");
      await sleep(1000 * round);
      signal(paused, "SIGCONT");
      await allGoOn();
      await redis.crash();
      await sleep(1000 * round);
      await redis.restart();
    }
    await allGoOn();
    await Promise.all(administrators.map(({ stop }) => stop()));

    const listAll = () => Promise.all(urls.map((url) => control(`${url}/__sandbox`, "GET /keys")));
    // One of them may not be back yet.
    await expect.poll(async () => (await listAll()).map(({ status }) => status)).toEqual([200, 200, 200]);
    const lists = await listAll();
    const [keys] = lists.map(({ body }) => body.data) as [readonly ListedKey[]];
    for (const { body } of lists) expect(body.data).toEqual(keys);
    const states = new Map(keys.map(({ ref, state }) => [ref, state]));
    const names = keys.map(({ organization, name }) => `${organization}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { made, revoked, stale } of administrators) {
      expect(made.filter((ref) => !states.has(ref))).toEqual([]);
      expect([...revoked].filter((ref) => states.get(ref) !== "revoked")).toEqual([]);
      expect(stale).toEqual([]);
    }
  }, 300_000);
});
