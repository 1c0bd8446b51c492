import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { startServer } from "../src/node/index.js";
import type { World } from "../src/sandbox/world.js";
import { bundledScenarios } from "../src/scenario/bundled.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import { describeDoors, mePath } from "./support/doors.js";
import { expressDoor } from "./support/express-door.js";

const times = (count: number, act: (index: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

const adviceOf = (world: World) => world.journal.list().flatMap(({ advice }) => advice);

// A minute that does not turn in between.
const frozen: Scenario = {
  ...bundledScenarios["key-states"],
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
};

describeDoors("requests under way at the same time", (open) => {
  test.each([2, 5, 30])("%i with a rejected key earn nothing, and the next one does", async (count) => {
    const door = await open("key-states");
    onTestFinished(door.close);
    await times(count, () => door.me({ ref: "revoked" }));
    await times(count, () => door.me({ header: "not-a-key" }));
    expect(adviceOf(door.world)).toEqual([]);
    await door.me({ ref: "revoked" });
    await door.me({ header: "not-a-key" });
    expect(adviceOf(door.world)).toEqual(["same-key-after-401", "same-key-after-401"]);
  });

  test("65 with a key of 60 a minute earn nothing, and the next one does", async () => {
    const door = await open("key-states");
    onTestFinished(door.close);
    await times(65, () => door.me({ ref: "active" }));
    expect(door.world.journal.list({ pathId: "429.per_minute" })).toHaveLength(5);
    expect(adviceOf(door.world)).toEqual([]);
    await door.me({ ref: "active" });
    expect(adviceOf(door.world)).toEqual(["too-soon-after-429"]);
  });

  test("an old and a new key, sent at the same time, earn the note alone", async () => {
    const door = await open("key-states");
    onTestFinished(door.close);
    await times(2, (index) => door.me({ ref: index === 0 ? "replacement" : "retiring" }));
    expect(adviceOf(door.world)).toEqual(["retiring-key-in-use"]);
    await door.me({ ref: "retiring" });
    expect(adviceOf(door.world)).toEqual(["retiring-key-in-use", "old-key-after-replacement-seen"]);
  });
});

/** A server, and how to send the key of a ref by way of an agent. */
async function serve(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer({ scenario: frozen, ...options });
  onTestFinished(() => server.close(0));
  const { sandbox } = server;
  const send = (agent: Agent, key: string) =>
    new Promise<void>((resolve, reject) => {
      const asking = request(server.url + mePath, { agent, headers: { "x-api-key": key } }, (response) => {
        response.resume().on("end", resolve).on("error", reject);
      });
      asking.on("error", reject).end();
    });
  const agentOf = (options: ConstructorParameters<typeof Agent>[0]) => {
    const agent = new Agent({ keepAlive: true, ...options });
    onTestFinished(() => agent.destroy());
    return agent;
  };
  return {
    server,
    secret: (ref: string) => sandbox.secret(ref as never),
    send,
    agentOf,
    advice: () => sandbox.requests.list().flatMap(({ advice }) => advice),
  };
}

describe("on connections that stay open", () => {
  test("one request after the other is heard from the second on", async () => {
    const { send, agentOf, secret, advice } = await serve();
    const agent = agentOf({ maxSockets: 1 });
    for (let i = 0; i < 3; i++) await send(agent, secret("revoked"));
    expect(advice()).toEqual(["same-key-after-401", "same-key-after-401"]);
  });

  test("those that are idle carry a burst that earns nothing; each hears of its own answer", async () => {
    const { send, agentOf, secret, advice } = await serve();
    const agent = agentOf({ maxSockets: 8 });
    await times(8, () => send(agent, secret("active")));
    await times(8, () => send(agent, secret("revoked")));
    expect(advice()).toEqual([]);
    await times(8, () => send(agent, secret("revoked")));
    expect(advice()).toHaveLength(8);
  });

  test("a request on another idle one has heard what came before it", async () => {
    const { send, agentOf, secret, advice } = await serve();
    const [one, other] = [agentOf({}), agentOf({})];
    for (const agent of [one, other]) await send(agent, secret("active"));
    await send(one, secret("revoked"));
    await send(other, secret("revoked"));
    expect(advice()).toEqual(["same-key-after-401"]);
  });

  test("requests with bodies, sent one behind the other, are all answered", async () => {
    const { server, secret } = await serve({ scenario: { ...frozen, preview: true } });
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const of = (ref: string) =>
      `POST /v1/relying-party/consent-requests HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nx-api-key: ${secret(ref)}\r\n\r\n{}`;
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.end(of("revoked") + of("expired") + of("rotated"));
    await once(socket, "close");
    expect(text.split("HTTP/1.1 401").length - 1).toBe(3);
  });

  test("requests that are sent before the first answer has come earn nothing", async () => {
    const { server, secret, advice } = await serve();
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const text = `GET ${mePath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${secret("revoked")}\r\n\r\n`;
    const arrivals = { count: 0 };
    socket.on("data", (chunk) => {
      arrivals.count += String(chunk).split("HTTP/1.1 401").length - 1;
    });
    const answers = async (count: number) => {
      while (arrivals.count < count) await sleep(5);
    };
    socket.write(text.repeat(3));
    await answers(3);
    expect(advice()).toEqual([]);
    socket.write(text);
    await answers(4);
    expect(advice()).toEqual(["same-key-after-401"]);
  });
});

/** Runs a program of Node's in a process of its own, with the address and a key. */
async function run(program: string, url: string, key: string): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: {
      ...process.env,
      URL: url + mePath,
      KEY: key,
      NODE_TLS_REJECT_UNAUTHORIZED: "0",
      NODE_NO_WARNINGS: "1",
    },
    stdio: "inherit",
  });
  expect(await once(child, "exit")).toEqual([0, null]);
}

const fetching = 'const ask = () => fetch(process.env.URL, { headers: { "x-api-key": process.env.KEY } });';

describe.each([false, true])("a client in a process of its own (TLS: %s)", (tls) => {
  test("earns nothing for 40 requests at once", async () => {
    const { server, secret, advice } = await serve({ tls });
    await run(
      `${fetching} await Promise.all(Array.from({ length: 40 }, ask));`,
      server.url,
      secret("revoked"),
    );
    expect(server.sandbox.requests.total()).toBe(40);
    expect(advice()).toEqual([]);
  });

  test("is told of each that it sends after an answer", async () => {
    const { server, secret, advice } = await serve({ tls });
    const program = `${fetching} for (let i = 0; i < 4; i++) await (await ask()).text();`;
    await run(program, server.url, secret("revoked"));
    expect(advice()).toHaveLength(3);
  });
});

test("curl, run after curl, is told of the second", async () => {
  const { server, secret, advice } = await serve();
  const key = `x-api-key: ${secret("revoked")}`;
  const program = 'for i in 1 2 3; do curl -s -o /dev/null -H "$1" "$0"; done';
  const child = spawn("sh", ["-c", program, server.url + mePath, key], { stdio: "ignore" });
  await once(child, "exit");
  expect(advice()).toEqual(["same-key-after-401", "same-key-after-401"]);
});

test("a client that has gone before the answer has not heard it", async () => {
  const { server, secret, advice, send, agentOf } = await serve({
    scenario: { ...frozen, faults: [{ when: { requests: [1] }, then: { latency: "300ms" } }] },
  });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(`GET ${mePath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${secret("revoked")}\r\n\r\n`);
  await sleep(100);
  socket.destroy();
  await sleep(400);
  const agent = agentOf({});
  await send(agent, secret("revoked"));
  expect(advice()).toEqual([]);
  await send(agent, secret("revoked"));
  expect(advice()).toEqual(["same-key-after-401"]);
});

test("behind a server of one's own a burst earns nothing, and a retry some while later does", async () => {
  const door = await expressDoor.open(frozen);
  const { sandbox } = door;
  onTestFinished(door.close);
  const send = () => door.send({ headers: { "x-api-key": sandbox.secret("revoked" as never) } });
  await times(10, send);
  const advice = () => sandbox.requests.list().flatMap((one) => one.advice);
  expect(advice()).toEqual([]);
  await sleep(150);
  await send();
  expect(advice()).toEqual(["same-key-after-401"]);
});
