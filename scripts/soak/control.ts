import { renameSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { pick } from "../../src/domain/seed.js";
import { exchange } from "../../test/support/exchange.js";
import { ask, patience, trust } from "./clients.js";
import { scenarioText } from "./product.js";
import { below, pause, type Work, type Worker } from "./worker.js";

/** Calls a control plane: `POST /keys` with a body, YAML if it is text. A status that is not among `due` is a failure. */
function callOf({ product, figures, secrets }: Worker) {
  return async (line: string, due: readonly number[], body: object | string = {}, base = product.url) => {
    const [method = "", path = ""] = line.split(" ");
    const isYaml = typeof body === "string";
    const headers = { "content-type": isYaml ? "application/yaml" : "application/json" };
    const sent = method === "GET" ? {} : { headers, body: isYaml ? body : JSON.stringify(body) };
    const signal = AbortSignal.timeout(patience);
    const got = await exchange(`${base}/__sandbox${path}`, { method, signal, ...trust(product), ...sent });
    const text = got.bytes.toString();
    figures.count("control calls");
    const what = line.replace(/\/(keys|instances)\/[^/]+/, "/$1/…");
    if (!due.includes(got.status)) figures.fail(`${what} got a wrong status`, `${got.status} ${text}`);
    // Secrets are only in the responses that make them.
    if (got.status !== 201 && secrets.isIn(text)) figures.fail(`a key is in the response to ${what}`, text);
    const isJson = got.headers["content-type"]?.startsWith("application/json") && text !== "";
    return { status: got.status, text, data: isJson ? JSON.parse(text).data : undefined };
  };
}

/** Everything that can be read, which never contains a key. */
const reads: readonly string[] = [
  ...["/state", "/keys", "/requests", "/requests?path_id=200.test", "/clock", "/faults", "/assumptions"],
  ...["/scenarios", "/organizations", "/instances", "/story", "/health", "/farmers?limit=3", "/"],
  ...["/openapi.json", "/control.openapi.json"],
  ...["", "?format=text", "?format=markdown", "?format=junit"].map((query) => `/report${query}`),
];

/** Reads everything once. */
export async function readAll(worker: Worker): Promise<void> {
  const call = callOf(worker);
  for (const path of reads) await call(`GET ${path}`, [200]);
}

/** Brings a server to rest: a reset sandbox, an empty journal, no instances. */
export async function rest(worker: Worker): Promise<void> {
  const call = callOf(worker);
  const { data } = await call("GET /instances", [200]);
  for (const { id } of data) await call(`DELETE /instances/${id}`, [204, 404]);
  await call("POST /reset", [200]);
  await call("DELETE /requests", [204]);
}

/** Whether a change of the watched file still takes effect. */
export async function isWatching(worker: Worker): Promise<boolean> {
  const call = callOf(worker);
  writeFileSync(worker.product.file, scenarioText("Edited last"));
  for (let i = 0; i < 50; i++) {
    if ((await call("GET /organizations", [200])).text.includes("Edited last")) return true;
    await sleep(200);
  }
  return false;
}

/** Makes, rotates, uses and revokes keys, moves the clock, resets the sandbox, and reads everything. */
export const administrator: Work = (worker) => {
  const { product, figures, secrets, draw } = worker;
  const call = callOf(worker);
  const refs: string[] = [];
  let number = 0;

  // Another administrator may revoke the key or reset the sandbox in between.
  const use = async ({ status, data }: Awaited<ReturnType<typeof call>>) => {
    if (status !== 201) return;
    const { key, secret } = data as { key: { ref: string; limits: { per_minute: number } }; secret: string };
    secrets.add(secret);
    refs.push(key.ref);
    if (refs.length > 40) refs.splice(0, 20);
    figures.count("keys made");
    const got = await ask(product, secret);
    const isOwn =
      got.status === 200 && JSON.parse(String(got.bytes)).data.limits.per_minute === key.limits.per_minute;
    if (!isOwn && ![401, 403].includes(got.status))
      figures.fail("a new key did not get its own response", `${got.status} ${got.bytes}`);
  };
  const create = async () => {
    number += 1;
    const limits = { per_minute: 5_000_000 + number, per_day: 1_000_000_000 };
    const key = { environment: pick(draw, ["test", "live"]), name: "Soak", limits };
    await use(await call("POST /keys", [201, 403, 409], { organization: "changing", ...key }));
  };
  const rotate = async () => {
    const ref = refs.length === 0 ? "nothing" : pick(draw, refs);
    const overlap = { overlap_minutes: below(draw, 3) };
    await use(await call(`POST /keys/${ref}/rotate`, [201, 403, 404, 409], overlap));
  };
  const revoke = () => call(`POST /keys/${refs.shift() ?? "nothing"}/revoke`, [200, 404, 409]);
  const organization = "PATCH /organizations/changing";
  const acts: readonly (() => Promise<unknown>)[] = [
    ...[create, create, create, rotate, rotate, revoke, revoke],
    () => call(`GET ${pick(draw, reads)}`, [200]),
    () => call(`GET ${pick(draw, reads)}`, [200]),
    () => call(organization, [200], { status: pick(draw, ["active", "inactive"]) }),
    () => call("POST /clock/advance", [200], { by: `${1 + below(draw, 90)}s` }),
    () => call("PUT /clock", [200], { frozen: below(draw, 2) === 0 }),
    () => call("PUT /clock", [422], { now: "2020-01-01T00:00:00Z" }),
    () => call("PUT /assumptions", [200, 422], { profile: pick(draw, ["minimal", "typical"]) }),
    () => (below(draw, 4) === 0 ? call("POST /reset", [200]) : create()),
    () => (below(draw, 4) === 0 ? call("PUT /scenario", [200], scenarioText("Sent")) : revoke()),
    () => (below(draw, 5) === 0 ? call("DELETE /requests", [204]) : create()),
  ];
  return { step: () => pick(draw, acts)() };
};

/** Makes instances, uses them and their keys, and removes them. */
export const instanceMaker: Work = (worker) => {
  const { product, figures, secrets, draw } = worker;
  const call = callOf(worker);
  return {
    async step() {
      const scenario = pick(draw, ["key-states", "rotation"]);
      const made = await call("POST /instances", [201], { scenario, seed: below(draw, 1e6), label: "soak" });
      const { id, base_url: base, keys } = made.data as { id: string; base_url: string; keys: object };
      figures.count("instances");
      for (const key of Object.values(keys)) secrets.add(key);
      for (const key of Object.values(keys).slice(0, 1 + below(draw, 5))) {
        const { status, bytes } = await ask(product, key, base);
        if (status >= 500) figures.fail("an instance sent a 5xx", bytes);
      }
      await call("POST /clock/advance", [200], { by: "1h" }, base);
      if (below(draw, 2) === 0) await pause(worker, below(draw, 200));
      await call(`DELETE /instances/${id}`, [204]);
      await call("GET /state", [404], {}, base);
    },
  };
};

/** Writes the watched file: in place, by renaming, and broken. */
export const editor: Work = (worker) => {
  const { product, figures, draw } = worker;
  const { file } = product;
  let version = 0;
  return {
    async step() {
      version += 1;
      const text = scenarioText(`Edited ${version}`);
      const way = below(draw, 4);
      if (way === 0) writeFileSync(file, `${text.slice(0, below(draw, text.length))}\n]`);
      else if (way === 1) writeFileSync(file, text);
      else {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      }
      figures.count("files written");
      await pause(worker, 300 + below(draw, 1500));
    },
    leave: () => writeFileSync(file, scenarioText("Edited at the end of a round")),
  };
};

/** Stops reading the log for a while, again and again. */
export const logStaller: Work = (worker) => ({
  async step() {
    await worker.product.stallLog(500 + below(worker.draw, 5000));
    worker.figures.count("stalls of the log");
    await pause(worker, below(worker.draw, 2000));
  },
});

/**
 * Reads events: it leaves at any time and resumes after the last event that it has read, or stops reading for a while.
 *
 * A reader that stops may be cut off; no reader may miss an event without `events.lost`.
 */
export const eventReader: Work = (worker) => {
  const { product, figures, secrets, draw } = worker;
  let last: number | undefined;
  const take = (block: string) => {
    const [, id, event] = /^id: (\d+)\nevent: (\S+)/.exec(block) ?? [];
    if (id === undefined) return;
    figures.count("events read");
    if (event !== "events.lost" && last !== undefined && Number(id) !== last + 1)
      figures.fail("an event is missing or came twice", `${last}, then ${id}`);
    last = Number(id);
  };
  const open = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = last === undefined ? {} : { "last-event-id": String(last) };
      const options = { headers, agent: false as const, ca: product.ca };
      const send = product.ca === undefined ? request : requestTls;
      send(`${product.url}/__sandbox/events`, options, resolve).on("error", reject).end();
    });
  return {
    async step() {
      const stream = await open();
      figures.count("event readers");
      let unread = "";
      stream.on("error", () => {});
      stream.setEncoding("utf8").on("data", (text: string) => {
        const blocks = (unread + text).split("\n\n");
        unread = blocks.pop() as string;
        if (secrets.isIn(blocks.join("\n"))) figures.fail("a key is in an event");
        for (const block of blocks) take(block);
      });
      if (below(draw, 3) === 0) {
        stream.pause();
        await pause(worker, below(draw, 3000));
        stream.resume();
      }
      await pause(worker, below(draw, 2) === 0 ? below(draw, 300) : 500 + below(draw, 5000));
      stream.destroy();
    },
  };
};
