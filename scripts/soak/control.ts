import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pick } from "../../src/domain/seed.js";
import { exchange, type Incoming } from "../../test/support/exchange.js";
import { agentOf, patience } from "./clients.js";
import { below, type Work, type Worker } from "./worker.js";
import { faults, worldText } from "./world.js";

/** An answer of the control plane. */
interface Told {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what is read of it is there when the status says so
  readonly data: any;
}

type Ask = (call: string, body?: object | string) => Promise<Told>;

const decode = (answer: Incoming): Told => {
  const text = answer.bytes.toString();
  const isJson = answer.headers["content-type"]?.startsWith("application/json") && text !== "";
  return { status: answer.status, text, data: isJson ? JSON.parse(text).data : undefined };
};

/** Asks the control plane of a base URL; a text is sent as YAML. An answer that is not of these statuses is a failure. */
function asking({ product, figures }: Worker, agent: ReturnType<typeof agentOf>) {
  return async (call: string, body?: object | string, base = product.url): Promise<Told> => {
    const [method = "", path = ""] = call.split(" ");
    const isYaml = typeof body === "string";
    const type = isYaml ? "application/yaml" : "application/json";
    const sent = isYaml ? body : JSON.stringify(body ?? {});
    const signal = AbortSignal.timeout(patience);
    const options = method === "GET" ? {} : { headers: { "content-type": type }, body: sent };
    const told = decode(await exchange(`${base}/__sandbox${path}`, { method, agent, signal, ...options }));
    figures.count("control calls");
    if (told.status >= 500) figures.fail("a control call got a 5xx", `${call}: ${told.text}`);
    return told;
  };
}

function expectStatus(
  { figures }: Worker,
  call: string,
  { status, text }: Told,
  allowed: readonly number[],
): void {
  if (!allowed.includes(status))
    figures.fail(`a control call was not answered as it should be: ${call}`, `${status} ${text}`);
}

/** Everything that can be read, which never holds a key. */
const reads: readonly string[] = [
  ...[
    "/state",
    "/keys",
    "/requests",
    "/requests?path_id=200.test",
    "/clock",
    "/faults",
    "/assumptions",
    "/scenarios",
  ],
  ...["/organizations", "/instances", "/story", "/health", "/openapi.json", "/control.openapi.json", "/"],
  ...["", "?format=text", "?format=markdown", "?format=junit"].map((query) => `/report${query}`),
  ...["/farmers?limit=3", "/nothing"],
];

/** Reads everything once; returns nothing, and counts keys that it finds as failures. */
export async function readAll(worker: Worker): Promise<void> {
  const agent = agentOf(worker.product);
  const ask = asking(worker, agent);
  for (const path of reads) await read(worker, ask, path);
  agent.destroy();
}

async function read(worker: Worker, ask: Ask, path: string): Promise<void> {
  const told = await ask(`GET ${path}`);
  expectStatus(worker, `GET ${path}`, told, [path === "/nothing" ? 404 : 200]);
  if (worker.secrets.isIn(told.text)) worker.figures.fail(`a key stood in the answer to GET ${path}`);
  if (path.startsWith("/report")) worker.figures.count("reports");
}

/** An administrator: makes, rotates and revokes keys, moves the clock, turns faults on and off, and starts worlds anew. */
export const administrator: Work = (worker) => {
  const { product, figures, secrets, draw } = worker;
  const agent = agentOf(product);
  const ask = asking(worker, agent);
  const refs: string[] = [];
  let number = 0;

  const call = async (text: string, body: object | string, allowed: readonly number[]) => {
    const told = await ask(text, body);
    expectStatus(worker, text.replace(/-\d+/, ""), told, allowed);
    return told;
  };
  // Another administrator may have revoked it, or begun another world, in between.
  const use = async ({
    key,
    secret,
  }: {
    key: { ref: string; limits: { per_minute: number } };
    secret: string;
  }) => {
    secrets.add(secret);
    refs.push(key.ref);
    figures.count("keys made");
    const headers = { "x-api-key": secret };
    const signal = AbortSignal.timeout(patience);
    const answer = await exchange(`${product.url}/v1/relying-party/me`, { headers, agent, signal });
    figures.count("requests");
    const isOwn =
      answer.status === 200 &&
      JSON.parse(String(answer.bytes)).data.limits.per_minute === key.limits.per_minute;
    if (!isOwn && ![401, 403].includes(answer.status))
      figures.fail("a made key did not get its own answer", `${answer.status} ${answer.bytes}`);
  };
  const create = async () => {
    number += 1;
    const limits = { per_minute: 5_000_000 + number, per_day: 1_000_000_000 };
    const environment = pick(draw, ["test", "live"]);
    const told = await call(
      "POST /keys",
      { organization: "changing", environment, name: "Soak", limits },
      [201, 403, 409],
    );
    if (told.status === 201) await use(told.data);
  };
  const rotate = async () => {
    const ref = refs.length === 0 ? "nothing" : pick(draw, refs);
    const told = await call(
      `POST /keys/${ref}/rotate`,
      { overlap_minutes: below(draw, 3) },
      [201, 404, 409, 403],
    );
    if (told.status === 201) await use(told.data);
  };
  const revoke = async () => {
    const ref = refs.shift() ?? "nothing";
    await call(`POST /keys/${ref}/revoke`, {}, [200, 404, 409]);
  };
  const world = async () => {
    figures.count("worlds begun by a call");
    number += 1;
    if (below(draw, 2) === 0) await call("POST /reset", {}, [200]);
    else await call("PUT /scenario", worldText(`Sent ${number}`), [200]);
  };
  const careless = async () => {
    const key = secrets.invent(draw);
    const calls: readonly [string, object | string][] = [
      [`POST /keys/${key}/rotate`, {}],
      ["POST /keys", { organization: key, environment: key, name: key }],
      ["PUT /scenario", `version: 1\nsecret: ${key}\n${key}: [\n`],
      [`DELETE /instances/${key}`, {}],
      ["PUT /faults", { faults: [{ when: { key }, then: { [key]: key } }] }],
      ["PUT /clock", { now: key }],
    ];
    const [text, body] = pick(draw, calls);
    const told = await ask(text, body);
    expectStatus(worker, "a careless one", told, [400, 404, 422]);
    if (secrets.isIn(told.text)) figures.fail("a key stood in a refusal", told.text);
  };
  const acts: readonly (() => Promise<unknown>)[] = [
    ...[create, create, create, rotate, rotate, revoke, revoke, careless],
    () => read(worker, ask, pick(draw, reads)),
    () => read(worker, ask, pick(draw, reads)),
    () => call("PATCH /organizations/changing", { status: pick(draw, ["active", "inactive"]) }, [200]),
    () => call("POST /clock/advance", { by: `${1 + below(draw, 90)}s` }, [200]),
    () => call("PUT /clock", { frozen: below(draw, 2) === 0 }, [200]),
    () => call("PUT /clock", { now: "2020-01-01T00:00:00Z" }, [422]),
    () => call("PUT /faults", { faults: below(draw, 2) === 0 ? [] : [pick(draw, faults)] }, [200]),
    () => call("PUT /assumptions", { profile: pick(draw, ["minimal", "typical"]) }, [200, 422]),
    () => (below(draw, 2) === 0 ? world() : create()),
    () => (below(draw, 5) === 0 ? call("DELETE /requests", {}, [204]) : revoke()),
  ];
  return {
    async step() {
      await pick(draw, acts)();
      if (refs.length > 40) refs.splice(0, 20);
    },
    leave: () => agent.destroy(),
  };
};

/** Makes instances, uses them and their keys, and removes them. */
export const instanceMaker: Work = (worker) => {
  const { product, figures, secrets, draw } = worker;
  const agent = agentOf(product);
  const ask = asking(worker, agent);
  return {
    async step() {
      const made = await ask("POST /instances", {
        scenario: pick(draw, ["key-states", "rotation"]),
        seed: below(draw, 1e6),
        label: "soak",
      });
      expectStatus(worker, "POST /instances", made, [201]);
      const {
        id,
        base_url: base,
        keys,
      } = made.data as { id: string; base_url: string; keys: Record<string, string> };
      figures.count("instances");
      for (const key of Object.values(keys)) secrets.add(key);
      for (const [ref, key] of Object.entries(keys).slice(0, 1 + below(draw, 5))) {
        const signal = AbortSignal.timeout(patience);
        const answer = await exchange(`${base}/v1/relying-party/me`, {
          headers: { "x-api-key": key },
          agent,
          signal,
        });
        figures.count("requests");
        if (answer.status >= 500) figures.fail("an instance answered with a 5xx", `${ref}: ${answer.bytes}`);
      }
      const created = await ask("POST /clock/advance", { by: "1h" }, base);
      if (created.status !== 200) figures.fail("the clock of an instance was not moved", created.text);
      if (below(draw, 2) === 0) await sleep(below(draw, 200));
      const removed = await ask(`DELETE /instances/${id}`);
      expectStatus(worker, "DELETE /instances", removed, [204]);
      const gone = await ask("GET /state", undefined, base);
      expectStatus(worker, "GET /state of an instance that is gone", gone, [404]);
    },
    leave: () => agent.destroy(),
  };
};

/** Writes the watched file anew: in place, by another file that takes its place, and broken now and then. */
export const editor: Work = ({ product, figures, draw, over }) => {
  const file = join(product.folder, "world.yaml");
  let version = 0;
  return {
    async step() {
      version += 1;
      const text = worldText(`Edited ${version}`);
      const way = below(draw, 4);
      if (way === 0) writeFileSync(file, `${text.slice(0, below(draw, text.length))}\n]`);
      else if (way === 1) writeFileSync(file, text);
      else {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      }
      figures.count("files written");
      await sleep(300 + below(draw, 1500), undefined, { signal: over }).catch(() => {});
    },
    leave: () => writeFileSync(file, worldText("Edited at the end of a round")),
  };
};

/** Does not read the log for a while, again and again. */
export const logStaller: Work = ({ product, figures, draw, over }) => ({
  async step() {
    await product.stallLog(500 + below(draw, 5000));
    figures.count("stalls of the log");
    await sleep(below(draw, 2000), undefined, { signal: over }).catch(() => {});
  },
});

/** Brings a server to rest: the world anew, no requests remembered, no instances. */
export async function rest(worker: Worker): Promise<void> {
  const agent = agentOf(worker.product);
  const ask = asking(worker, agent);
  for (const { id } of (await ask("GET /instances")).data) await ask(`DELETE /instances/${id}`);
  await ask("POST /reset");
  await ask("DELETE /requests");
  agent.destroy();
}

/** Whether a change of the watched file still takes effect. */
export async function isWatching(worker: Worker): Promise<boolean> {
  const agent = agentOf(worker.product);
  const ask = asking(worker, agent);
  writeFileSync(join(worker.product.folder, "world.yaml"), worldText("Edited last"));
  let text = "";
  for (let i = 0; i < 50 && !text.includes("Edited last"); i++) {
    await sleep(200);
    text = (await ask("GET /organizations")).text;
  }
  agent.destroy();
  return text.includes("Edited last");
}
