import { STATUS_CODES } from "node:http";
import { expect, test } from "vitest";
import { failingWith } from "../../test/support/faulty.js";
import { mePath } from "../../test/support/send.js";
import { createSandbox } from "../index.js";
import { startInNode } from "../node/platform.js";
import { type FailureStatus, failures } from "../rules/fault-effects.js";
import { outcomes } from "../rules/outcomes.js";
import { bundledScenarios } from "../scenario/bundled.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { resolveSource } from "../scenario/scenario-source.js";
import { respondToWebRequest } from "./web-request.js";

const baseUrl = "https://any.example";

test("each status has the reason phrase that Node's server sends", async () => {
  const endpoints = {
    getDone: { path: "/v1/done", status: 200 },
    getCreated: { path: "/v1/created", status: 201 },
    getAccepted: { path: "/v1/accepted", status: 202 },
    getNothing: { path: "/v1/nothing", status: 204 },
  } satisfies Scenario["endpoints"];
  const sandbox = createSandbox({ scenario: { ...bundledScenarios["key-states"], endpoints } });
  const responses: Response[] = [];
  const send = async (path: string, init?: RequestInit) => {
    responses.push(await sandbox.fetch(baseUrl + path, init));
  };

  await send("/nothing");
  await send(mePath, { method: "POST" });
  for (const { ref } of sandbox.keys.list()) {
    await send(mePath, { headers: { "x-api-key": sandbox.secret(ref as "active") } });
  }
  const headers = { "x-api-key": sandbox.secret("active") };
  for (const { path } of Object.values(endpoints)) {
    await send(path, { headers });
  }
  for (const status of Object.keys(failures).map(Number)) {
    sandbox.faults.set([failingWith(status as FailureStatus)]);
    await send(mePath, { headers });
  }

  const statuses = new Set(responses.map(({ status }) => status));
  // Faults without a response have the status 0.
  const all = [...outcomes.map(({ status }) => status), ...Object.keys(failures).map(Number)];
  expect(all.filter((status) => status > 0 && !statuses.has(status))).toEqual([]);
  for (const { status, statusText } of responses) expect(statusText).toBe(STATUS_CODES[status]);
});

/** The traits that a sandbox has seen in a request to `/me`. */
function traitsOf(request: Request) {
  const sandbox = startInNode(resolveSource("key-states"));
  respondToWebRequest(() => sandbox, request, "fetch");
  return sandbox.journal.requests()[0]?.traits;
}

test("a web request shows its body, unless it was declared empty", () => {
  const traits = (init: RequestInit) => traitsOf(new Request(baseUrl + mePath, init));
  expect(traits({})).toEqual([]);
  expect(traits({ method: "POST", body: "x" })).toEqual(["body"]);
  expect(traits({ method: "POST", body: new Uint8Array(), headers: { "content-length": "0" } })).toEqual([]);
});

test("a web request shows the page that sent it", () => {
  const traits = (referrer: string) => {
    const sent = { url: baseUrl + mePath, method: "GET", headers: new Headers(), body: null, referrer };
    return traitsOf(sent as Partial<Request> as Request);
  };
  expect(traits("about:client")).toEqual([]);
  expect(traits("https://shop.example/orders")).toEqual(["browser header", "from page"]);
});
