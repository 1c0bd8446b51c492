import { join } from "node:path";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { exchange } from "../support/exchange.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { realPath } from "./calls.js";
import { type Ask, type ServedControl, serveControl } from "./client.js";
import { acceptedWrites, newKey } from "./writes.js";

/** Something for every list: a fault, requests, a result of the story, and a key that expires. */
async function fill({ ask, server }: ServedControl): Promise<void> {
  await exchange(server.url, { path: mePath });
  await ask("/send", { method: "POST", json: { key: "active" } });
  await ask("/story/next", { method: "POST", json: {} });
  await ask("/keys/active/expire", { method: "POST", json: { expires: "30m" } });
  const faults = [{ when: { every: 10 }, then: { status: 503 } }];
  await ask("/faults", { method: "PUT", json: { faults } });
}

/** The response of a sandbox of `key-states` to a call such as `GET /keys/{ref}`. */
export async function responseOf(call: string): ReturnType<Ask> {
  const [method, path] = call.split(" ") as [string, string];
  const control = await serveControl({ scenario: "key-states" });
  const { ask } = control;
  const write = acceptedWrites.find((one) => one.method === method && one.described === path);
  if (write !== undefined) return ask(write.path, write);
  await fill(control);
  const [farmer] = (await ask("/farmers")).body.data;
  const [request] = (await ask("/requests")).body.data;
  return ask(realPath(path).replace("{farmer_id}", farmer.farmer_id).replace("{id}", request.id));
}

/** Bodies of calls with each member that a response can leave out, except of those that a shape describes. */
export async function fullestBodies(): Promise<Readonly<Record<string, object>>> {
  const state = join(temporaryFolder(), "state.json");
  const { ask } = await serveControl({ scenario: "key-states", state });
  return {
    "GET /health": (await ask("/health")).body,
    "GET /ready": (await ask("/ready")).body,
    "POST /reset": (await ask("/reset", { method: "POST", json: { seed: 2 } })).body,
    "GET /report": (await ask("/report?story=true")).body,
  };
}

const withTimeline: Scenario = {
  version: 1,
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  timeline: [{ at: "10m", revoke: { key: "main" } }],
};

/** Further bodies of calls: without the token, of a timeline, and of keys that were created, rotated and revoked. */
export async function otherBodies(): Promise<Readonly<Record<string, readonly object[]>>> {
  const hidden = await serveControl({ host: "0.0.0.0", controlToken: "a-token-of-the-test" });
  const { ask } = await serveControl({ scenario: "key-states" });
  const created = await ask("/keys", { method: "POST", json: newKey });
  const rotated = await ask("/keys/ci/rotate", { method: "POST", json: { overlap: "5m" } });
  await ask("/keys/ci-2/revoke", { method: "POST", json: {} });
  const keys = await ask("/keys");
  const oneByOne: object[] = [];
  for (const { ref } of keys.body.data) oneByOne.push((await ask(`/keys/${ref}`)).body);
  const timed = await serveControl({ scenario: withTimeline });
  return {
    "GET /health": [(await hidden.ask("/health")).body],
    "GET /keys": [keys.body],
    "GET /keys/{ref}": oneByOne,
    "GET /upcoming": [(await timed.ask("/upcoming")).body],
    "POST /keys": [created.body],
    "POST /keys/{ref}/rotate": [rotated.body],
  };
}
