import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

// Hostile partners and a stranger do what they can to one server for a minute. The others must notice nothing.

const controlToken = "the-owner-of-the-server";
const maxMegabytes = 512;
const maxRatio = 10;
/** Milliseconds between two requests of the others. */
const pace = 25;
const longestWait = 10_000;

interface Partner {
  readonly id: string;
  readonly base_url: string;
  readonly token: string;
  readonly keys: Readonly<Record<string, string>>;
}

const [, , role, ...given] = process.argv;
if (role === "attack") await attack(JSON.parse(given[0] as string));
else await main();

async function main() {
  const options = {
    partners: { type: "string", default: "20" },
    seconds: { type: "string", default: "60" },
  } as const;
  const { values } = parseArgs({ options });
  const [count, seconds] = [Number(values.partners), Number(values.seconds)];
  if (!(count >= 4 && seconds >= 5)) {
    console.error("Give at least four partners and five seconds: partners -- --partners 20 --seconds 60");
    process.exit(2);
  }
  const { server, url } = await startServer();
  const partners: Partner[] = [];
  while (partners.length < count) partners.push(await createPartner(url));
  const [filling, computing, hoarding, ...others] = partners;
  const started = memoryOf(server);
  const quiet = await medianOf(others, 5);
  const attacker = fork(fileURLToPath(import.meta.url), [
    "attack",
    JSON.stringify([filling, computing, hoarding]),
  ]);
  const peak = watchMemory(server);
  const { median, slowest, statuses } = await latencies(others, seconds);
  attacker.kill("SIGKILL");
  const others5xx = [...statuses].filter(([status]) => status !== "200");
  const { data } = (await ownerCall(url, "GET", "/instances")) as { data: { id: string; account: object }[] };
  for (const one of [filling, computing, hoarding])
    console.log(JSON.stringify(data.find(({ id }) => id === one?.id)?.account));
  const megabytes = peak();
  const ended = server.exitCode;
  server.kill("SIGTERM");
  console.log(`${count} partners: ${started} MB at the start, at most ${megabytes} MB`);
  console.log(
    `/me of the others: median ${quiet.toFixed(1)} ms, then ${median.toFixed(1)} ms; slowest ${slowest.toFixed(0)} ms`,
  );
  const problems = [
    median > maxRatio * quiet && `the median is more than ${maxRatio} times the quiet one`,
    others5xx.length > 0 &&
      `others got ${others5xx.map(([status, times]) => `${times} × ${status}`).join(", ")}`,
    ended !== null && `the server ended with ${ended}`,
    megabytes > maxMegabytes && `the server used more than ${maxMegabytes} MB`,
  ].filter((problem) => problem !== false);
  for (const problem of problems) console.log(`✗ ${problem}`);
  if (problems.length === 0) console.log("✓ the others noticed nothing");
  process.exit(problems.length === 0 ? 0 : 1);
}

async function startServer(): Promise<{ server: ChildProcess; url: string }> {
  const flags = ["start", "announced-endpoints", "--port", "0", "--json", "--log", "off"];
  const env = { ...process.env, SVC_SANDBOX_CONTROL_TOKEN: controlToken };
  const node = ["--max-old-space-size=256", "bin/svc-sandbox.js", ...flags];
  const server = spawn(process.execPath, node, { env, stdio: ["ignore", "pipe", "ignore"] });
  process.once("exit", () => server.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: server.stdout }), "line");
  return { server, url: JSON.parse(line).base_url };
}

async function ownerCall(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${controlToken}`, "content-type": "application/json" };
  const response = await fetch(`${url}/__sandbox${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
}

async function createPartner(url: string): Promise<Partner> {
  return ((await ownerCall(url, "POST", "/instances", {})) as { data: Partner }).data;
}

/** Sends one request each 25 ms, no matter how long the ones before take. */
async function latencies(partners: readonly Partner[], seconds: number) {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const statuses = new Map<string, number>();
  const open = new Set<Promise<void>>();
  const until = performance.now() + seconds * 1000;
  for (let turn = 0; performance.now() < until; turn += 1) {
    const { base_url, keys } = partners[turn % partners.length] as Partner;
    const sent = performance.now();
    const request = statusOf(`${base_url}/v1/relying-party/me`, keys.lending as string, agent).then(
      (status) => {
        times.push(performance.now() - sent);
        // A key has a limit of its own.
        const shown = status === "429" ? "200" : status;
        statuses.set(shown, (statuses.get(shown) ?? 0) + 1);
      },
    );
    open.add(request);
    request.finally(() => open.delete(request));
    await wait(pace);
  }
  // Who waits for longer has waited long enough for the verdict.
  await Promise.race([Promise.all(open), wait(longestWait)]);
  for (let left = open.size; left > 0; left -= 1) times.push(longestWait);
  agent.destroy();
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1] ?? 0, slowest: times.at(-1) ?? 0, statuses };
}

async function medianOf(partners: readonly Partner[], seconds: number): Promise<number> {
  return (await latencies(partners, seconds)).median;
}

function statusOf(url: string, key: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const request = get(url, { agent, headers: { "x-api-key": key } }, (response) => {
      response.resume().once("end", () => resolve(`${response.statusCode}`));
    });
    request.once("error", ({ message }) => {
      // The server has closed an idle connection while the request was on its way: every client sends it again.
      resolve(request.reusedSocket ? statusOf(url, key, agent) : message);
    });
  });
}

/** The resident memory of a process, in MB. Linux only. */
function memoryOf({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1000);
}

function watchMemory(server: ChildProcess): () => number {
  let most = 0;
  const timer = setInterval(() => {
    if (server.exitCode === null) most = Math.max(most, memoryOf(server));
  }, 200).unref();
  return () => {
    clearInterval(timer);
    return most;
  };
}

/** Three partners and a stranger, until this process is killed. */
async function attack([filling, computing, hoarding]: readonly [Partner, Partner, Partner]) {
  process.once("disconnect", () => process.exit());
  const loop = async (work: (turn: number) => Promise<unknown>) => {
    for (let turn = 0; ; turn += 1) await work(turn).catch(() => wait(10));
  };
  const call = async (
    { base_url, token }: Partner,
    method: string,
    path: string,
    body?: string,
    type = "yaml",
  ) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": `application/${type}` };
    const response = await fetch(`${base_url}/__sandbox${path}`, { method, headers, ...(body && { body }) });
    return response.text();
  };
  const many = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index)).join("");
  const banks = `version: 1\nextends: announced-endpoints\norganizations:\n${many(150, (n) => `  bank-${n}: { type: bank }\n`)}`;
  const shapes = [
    `version: 1\n${many(15_000, (n) => `field-${n}: 1\n`)}`,
    `version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n${many(3500, (n) => `      k${n}: { environment: test, state: retiring, replaced_by: x${n} }\n`)}`,
    "version: 1\npopulation: { organizations: 1000, keys_per_organization: 2 }\n",
    "version: 1\npopulation: { organizations: 100000, keys_per_organization: 10 }\n",
  ];
  const record = (turn: number) =>
    JSON.stringify({
      organization: `bank-${turn % 150}`,
      farmer_id: "x",
      purpose: { code: "credit_assessment", text: "x".repeat(turn % 2 === 0 ? 200_000 : 10) },
    });
  for (let worker = 0; worker < 4; worker += 1) {
    // Fills its instance.
    void loop(async (turn) => {
      if (turn % 50 === 0) await call(filling, "PUT", "/scenario", banks);
      await call(filling, "POST", "/records/consent-requests", record(turn), "json");
      const ref = `key-${worker}-${turn}`;
      const key = { organization: "harvest-bank", environment: "test", name: "A key", ref };
      await call(filling, "POST", "/keys", JSON.stringify(key), "json");
      await call(filling, "POST", `/keys/${ref}/revoke`, "{}", "json");
    });
    // Sends what takes long to read.
    void loop((turn) =>
      call(
        computing,
        turn % 2 === 0 ? "PUT" : "POST",
        turn % 2 === 0 ? "/scenario" : "/scenario/validate",
        shapes[(turn >> 1) % shapes.length],
      ),
    );
  }
  // A stranger guesses.
  const stranger = { ...filling, token: "svci_wrong" };
  for (let worker = 0; worker < 20; worker += 1) {
    void loop(() => call(stranger, "GET", "/requests"));
    void loop(() => fetch(`${filling.base_url}/nope`).then((response) => response.text()));
  }
  // Asks for long lists, and does not read them.
  const { port, pathname } = new URL(hoarding.base_url);
  const me = `GET ${pathname}/v1/relying-party/me HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${hoarding.keys.lending}\r\n\r\n`;
  const list = `GET ${pathname}/__sandbox/requests HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${hoarding.token}\r\n\r\n`;
  const filler = connect(Number(port), "127.0.0.1").on("error", () => {});
  filler.resume().write(me.repeat(1000));
  await wait(1000);
  for (;;) {
    const sockets: Socket[] = [];
    for (let n = 0; n < 600; n += 1)
      sockets.push(
        connect(Number(port), "127.0.0.1")
          .on("error", () => {})
          .pause(),
      );
    for (const socket of sockets) socket.write(list.repeat(20));
    await wait(10_000);
    for (const socket of sockets) socket.destroy();
  }
}
