import { setTimeout as sleep } from "node:timers/promises";
import { pick, type RandomStream } from "../../src/rules/seed.js";
import { below } from "../../test/support/hostile-requests.js";
import { type History, untilKnown } from "./clients.js";
import { ask, type Known, type Server } from "./servers.js";

/** The acknowledged amount of each record by its id, or that it was removed. */
export type Records = ReadonlyMap<string, number | "gone">;

const rounds = 20;

/** Creates, changes and removes records, and reads each change on any server. Repeats a call until its outcome is known. */
export async function writeRecords(client: string, draw: RandomStream, history: History): Promise<Records> {
  const records = new Map<string, number | "gone">();
  const send = (call: string, body?: object, headers?: Record<string, string>) =>
    sendTo(() => pick(draw, history.servers), history, call, body, headers);
  for (let round = 0; round < rounds; round += 1) {
    const made = await send("POST /loans", { amount: 1 }, { "idempotency-key": `${client} ${round}` });
    const { id } = expectStatus(made, 201).body.data;
    if (records.has(id)) throw new Error(`the record ${id} was made twice`);
    const amount = 2 + below(draw, 1000);
    expectStatus(await send(`PATCH /loans/${id}`, { amount }), 200);
    records.set(id, amount);
    expectRecord(id, amount, await send(`GET /loans/${id}`));
    if (round % 3 === 0) {
      // A call with an unknown outcome may have removed it.
      expectStatus(await send(`DELETE /loans/${id}`), 204, 404);
      records.set(id, "gone");
      expectRecord(id, "gone", await send(`GET /loans/${id}`));
    }
    if (history.rest > 0) await sleep(below(draw, history.rest));
  }
  return records;
}

/** Each server has the records as they were acknowledged, no other ones, and has counted each request once. */
export async function checkRecords(records: Records, history: History): Promise<void> {
  const { servers, requests } = history;
  const kept = [...records.values()].filter((amount) => amount !== "gone").length;
  for (const server of servers) {
    const send = (call: string) => sendTo(() => server, history, call);
    for (const [id, amount] of records) expectRecord(id, amount, await send(`GET /loans/${id}`));
    const { total } = expectStatus(await send("GET /loans?limit=1"), 200).body;
    if (total !== kept) throw new Error(`a server lists ${total} records, and ${kept} were made`);
    const { today } = expectStatus(await send("GET /v1/relying-party/me"), 200).body.data.usage;
    if (today < requests.known || today > requests.known + requests.unknown)
      throw new Error(`${requests.known} requests, ${requests.unknown} unknown, were counted as ${today}`);
  }
}

function sendTo(
  server: () => Server,
  { instance, secrets, requests }: History,
  call: string,
  body?: object,
  more: Record<string, string> = {},
): Promise<Known> {
  const headers = { ...more, "x-api-key": secrets.get("records") ?? "" };
  return untilKnown(async () => {
    const got = await ask(server(), call.replace(" ", ` /i/${instance}`), headers, body);
    if (typeof got === "object") requests.known += 1;
    else if (got !== "never") requests.unknown += 1;
    return got;
  });
}

function expectStatus(got: Known, ...expected: readonly number[]): Known {
  if (!expected.includes(got.status)) throw new Error(`a record got ${JSON.stringify(got)}`);
  return got;
}

function expectRecord(id: string, expected: number | "gone", { status, body }: Known): void {
  const found = status === 404 ? "gone" : body.data?.amount;
  if (found !== expected) throw new Error(`the record ${id} is ${found} instead of ${expected}`);
}
