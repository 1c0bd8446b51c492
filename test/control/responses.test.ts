import { expect, test } from "vitest";
import { assumptionTable } from "../../src/rules/assumptions.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { exchange } from "../support/exchange.js";
import { sectionOf } from "../support/pages.js";
import { mePath } from "../support/send.js";
import { realPath } from "./calls.js";
import { type ServedControl, serveControl } from "./client.js";
import { acceptedWrites } from "./writes.js";

// A call's members in docs/control-plane.md are its response's members, no fewer and no more.

const section = sectionOf("docs/control-plane.md", "Members of responses");
const wordsIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string);
const isCall = (word: string) => / \//.test(word);

const rows = [...section.matchAll(/^\| (`.+) \| (.+) \|$/gm)].map(([, calls = "", members = ""]) => ({
  calls: wordsIn(calls),
  members,
}));

function membersOf(call: string): string[] {
  const { members = "" } = rows.find(({ calls }) => calls.includes(call)) ?? {};
  const listed = wordsIn(members).flatMap((word) => (isCall(word) ? membersOf(word) : word));
  return members.includes("each [assumption]") ? [...listed, ...Object.keys(assumptionTable)] : listed;
}

const documented = rows.flatMap(({ calls }) => calls);

/** Something for every list: a fault, requests, a result of the story, and a key that expires. */
async function fill({ ask, server }: ServedControl): Promise<void> {
  await exchange(server.url, { path: mePath });
  await ask("/send", { method: "POST", json: { key: "active" } });
  await ask("/story/next", { method: "POST", json: {} });
  await ask("/keys/active/expire", { method: "POST", json: { expires: "30m" } });
  const faults = [{ when: { every: 10 }, then: { status: 503 } }];
  await ask("/faults", { method: "PUT", json: { faults } });
}

async function send(call: string) {
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

test.each(documented)("%s has the documented members", async (call) => {
  const { status, body } = await send(call);
  expect(status).toBeLessThan(300);
  const data = body.data ?? body;
  const items: object[] = Array.isArray(data) ? data : [data];
  expect(items).not.toEqual([]);
  const members = membersOf(call);
  const required = members.filter((name) => !name.endsWith("?"));
  const names = members.map((name) => name.replace("?", ""));
  for (const item of items) {
    expect(Object.keys(item)).toEqual(expect.arrayContaining(required));
    expect(names).toEqual(expect.arrayContaining(Object.keys(item)));
  }
});

test("every call is documented, except those with a text, a whole document or nothing", () => {
  const others = routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((call) => !documented.includes(call));
  expect(others.sort()).toEqual([
    "DELETE /requests",
    "GET /",
    "GET /openapi.json",
    "GET /revision",
    "GET /scenario",
    "GET /scenario.schema.json",
  ]);
  expect(documented.length).toBe(new Set(documented).size);
});
