import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeSelfSigned } from "../../src/server/sockets/tls.js";
import { pageOf } from "../support/pages.js";
import { freePort, noRedis, type RedisServer, startRedis } from "../support/redis-server.js";
import { baseUrl, type RunOptions, runCli, serve } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { listening } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Starts a sandbox on a store that cannot be used; resolves to the sentence that says why. */
async function rejection(argv: readonly string[], options: RunOptions = {}): Promise<string> {
  const ran = await runCli(["start", "--port", "0", ...argv], { cwd: temporaryFolder(), ...options });
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toMatch(/^[A-Z-].*\.\n$/);
  return ran.stderr.trim();
}

async function redisWith(settings: readonly string[], password?: string): Promise<RedisServer> {
  const redis = await startRedis(settings, password === undefined ? {} : { password });
  onTestFinished(redis.close);
  return redis;
}

/** A server that responds to each command of a client, or says nothing. */
async function fakeRedis(response: (command: string) => string | undefined): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {}).setEncoding("utf8");
    socket.on("data", (text: string) => {
      for (const command of text.split(/(?=\*\d+\r\n\$)/)) {
        const said = response(command.replace(/[*$]\d+\r\n/g, "").replaceAll("\r\n", " "));
        if (said !== undefined) socket.write(said);
      }
    });
    onTestFinished(() => void socket.destroy());
  });
  return `redis://127.0.0.1:${await listening(server)}`;
}

test("a URL that is none is not repeated, for it may hold a password; from the variable as from the flag", async () => {
  const text = await rejection([], { env: { SVC_SANDBOX_STORE: "rediss://me:s3cret@host/db" } });
  expect(text).toContain("Invalid SVC_SANDBOX_STORE: ");
  expect(text).not.toContain("s3cret");
});

test("a prefix that Redis would read as a pattern is rejected", async () => {
  expect(await rejection(["--store", "redis://127.0.0.1:1", "--store-prefix", "a*"])).toContain(
    "Use 1 to 64 letters, digits and . _ : / -.",
  );
});

/** Starts a sandbox on a store that cannot be reached; resolves to the line that it waits with. */
async function waiting(store: string): Promise<string> {
  const wait = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {});
  const running = serve(["start", "--store", store], { wait });
  await running.stderr.shows(/\n/);
  const { code, stdout, stderr } = await running.stop();
  expect([code, stdout]).toEqual([0, ""]);
  return stderr.trim();
}

describe("a start waits for a host", () => {
  test("on which nothing listens", async () => {
    const port = await freePort();
    expect(await waiting(`redis://127.0.0.1:${port}`)).toBe(
      `Failed to reach the store redis://127.0.0.1:${port}: nothing listens at this address and port (ECONNREFUSED). Check that it is running. If it uses another port, pass its URL. Waiting until it can be reached.`,
    );
  });

  test("that does not exist", async () => {
    expect(await waiting("redis://no.such.host.invalid")).toMatch(
      /^Failed to reach the store redis:\/\/no\.such\.host\.invalid: the host name cannot be resolved \(E/,
    );
  });

  test("that does not respond", async () => {
    const url = await fakeRedis(() => undefined);
    expect(await waiting(url)).toBe(
      `Failed to reach the store ${url}: it does not respond. Check host, port, firewall and whether it speaks TLS (rediss://). Waiting until it can be reached.`,
    );
  });
});

describe("a host", () => {
  test("that is no Redis", async () => {
    const url = await fakeRedis(() => "HTTP/1.1 400 Bad Request\r\n\r\n");
    expect(await rejection(["--store", url])).toBe(
      `Failed to use the store ${url}: it does not respond like Redis. Check host and port.`,
    );
  });
});

describe("a Redis that is too old", () => {
  test("by its version", async () => {
    const info = "# Server\r\nredis_version:5.0.14\r\n";
    const url = await fakeRedis((command) =>
      command.startsWith("INFO") ? `$${info.length}\r\n${info}\r\n` : "+OK\r\n",
    );
    expect(await rejection(["--store", url])).toBe(
      `Failed to use the store ${url}: it is a Redis 5.0.14, which is too old. Use Redis 6.2 or newer, or Valkey.`,
    );
  });

  test("by what it does not know", async () => {
    const url = await fakeRedis((command) => `-ERR unknown command \`${command.split(" ")[0]}\`, with\r\n`);
    expect(await rejection(["--store", url])).toBe(
      `Failed to use the store ${url}: it does not know a command that a store needs. Use Redis 6.2 or newer, or Valkey, and no Sentinel.`,
    );
  });
});

describe.skipIf(noRedis)("a Redis that is started later", () => {
  test("is waited for", async () => {
    const redis = await redisWith([]);
    await redis.crash();
    const wait = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {});
    const running = serve(["start", "--json", "--store", redis.url], { wait });
    await running.stderr.shows(/Waiting until it can be reached/);
    await redis.restart();
    await running.stdout.shows(/\n/);
    const { control_url } = JSON.parse(running.stdout.text());
    expect((await fetch(`${control_url}/ready`)).status).toBe(200);
  });
});

describe.skipIf(noRedis)("a Redis", () => {
  test("that asks for a password, or rejects it, or the user", async () => {
    const redis = await redisWith(["--requirepass", "s3cret", "--appendonly", "yes"], "s3cret");
    const shown = `Failed to use the store ${redis.url}`;
    expect(await rejection(["--store", redis.url])).toBe(
      `${shown}: it requires a password. Set SVC_SANDBOX_STORE to redis://:password@host:port.`,
    );
    for (const given of [":wr0ng", "nobody:s3cret", "default:"]) {
      const text = await rejection(["--store", `redis://${given}@127.0.0.1:${redis.port}`]);
      expect(text).toContain(given === "default:" ? "it requires a password" : 'it reports "WRONGPASS ');
      expect(text).not.toMatch(/s3cret|wr0ng/);
    }
    expect(await redis.command("DBSIZE")).toBe(0);
  });

  test("whose user may do what docs/store.md says serves", async () => {
    const redis = await redisWith(["--appendonly", "yes"]);
    const [, rights = ""] = /`ACL SETUSER sandbox (.*?)`/.exec(pageOf("docs/store.md")) ?? [];
    await redis.command("ACL", "SETUSER", "sandbox", ...rights.split(" "));
    const running = serve(["start", "--store", `redis://sandbox:password@127.0.0.1:${redis.port}`]);
    const url = await baseUrl(running);
    expect((await fetch(`${url}/v1/relying-party/me`)).status).toBe(401);
    expect(running.stderr.text()).toContain(`This is one replica of the sandbox in ${redis.url}.`);
    expect(running.stdout.text() + running.stderr.text()).not.toContain("password@");
  });

  test("that is full", async () => {
    const redis = await redisWith(["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    expect(await rejection(["--store", redis.url])).toMatch(/it is full: its maxmemory is reached\. /);
  });

  test("that throws keys away when it is full", async () => {
    const redis = await redisWith(["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
    expect(await rejection(["--store", redis.url])).toMatch(
      /its maxmemory-policy allkeys-lru evicts keys when it is full\. Set maxmemory-policy to noeviction\.$/,
    );
    expect(await redis.command("DBSIZE")).toBe(0);
  });

  test("that speaks TLS with a certificate of its own: NODE_EXTRA_CA_CERTS names it", async () => {
    const folder = temporaryFolder();
    const pair = await makeSelfSigned();
    const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
    writeFileSync(files.cert, pair.cert);
    writeFileSync(files.key, pair.key);
    const tlsPort = await freePort();
    const redis = await redisWith([
      "--tls-port",
      String(tlsPort),
      "--tls-cert-file",
      files.cert,
      "--tls-key-file",
      files.key,
      "--tls-auth-clients",
      "no",
      "--appendonly",
      "yes",
    ]);
    const url = `rediss://localhost:${tlsPort}`;
    expect(await rejection(["--store", url])).toContain("set NODE_EXTRA_CA_CERTS to a file with");
    expect(await waiting(`rediss://127.0.0.1:${redis.port}`)).toContain("whether it speaks TLS (rediss://)");
    expect(await waiting(`redis://localhost:${tlsPort}`)).toContain("rediss:// instead of redis://");
    expect(await redis.command("DBSIZE")).toBe(0);
    const bin = startBin(["start", "--port", "0", "--json", "--store", url], {
      env: { NODE_EXTRA_CA_CERTS: files.cert },
    });
    expect(await bin.until(/listening/)).toContain('"event":"listening"');
  });

  test("whose sandbox was begun with the same file in another folder serves", async () => {
    const redis = await redisWith(["--appendonly", "yes"]);
    const file = { "bank.yaml": "version: 1\norganizations: { a-bank: { type: bank } }\n" };
    const start = () => [join(temporaryFolder(file), "bank.yaml"), "--store", redis.url];
    await baseUrl(serve(["start", ...start()]));
    await baseUrl(serve(["start", ...start()]));
  });

  test("whose sandbox was begun otherwise stays as it is, and the message names both", async () => {
    const redis = await redisWith(["--appendonly", "yes"]);
    await baseUrl(serve(["start", "revoked", "--store", redis.url]));
    const stored = () => redis.command("HGETALL", "{svc-sandbox:}:own:state");
    const before = await stored();
    expect(await rejection(["revoked", "--seed", "7", "--store", redis.url])).toBe(
      `The sandbox in the store ${redis.url} was started with --seed (none), and this one has --seed 7. Start this one with the same, or give it its own keys with --store-prefix.`,
    );
    const other = await rejection(["key-states", "--store", redis.url]);
    expect(other).toMatch(
      /was started with scenario "revoked" and content of the scenario "\w+", and this one has scenario "key-states"/,
    );
    expect(await stored()).toEqual(before);
    await redis.command("HSET", "{svc-sandbox:}:own:state", "origin", '{"version":"0.0.1"}');
    expect(await rejection(["revoked", "--store", redis.url])).toContain('and version "0.0.1"');
  });
});
