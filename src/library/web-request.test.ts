import { STATUS_CODES } from "node:http";
import { expect, test } from "vitest";
import { failures } from "../rules/fault-effects.js";
import { outcomes } from "../rules/outcomes.js";
import { receivedRequest } from "../rules/request.js";
import { receivedWeb, toResponse } from "./web-request.js";

test("each status has the reason phrase that Node's server sends", () => {
  const given = [201, ...outcomes.map(({ status }) => status), ...Object.keys(failures).map(Number)];
  // Faults without a response have the status 0.
  const statuses = [...new Set(given)].filter((status) => status > 0);
  const reasons = statuses.map((status) => toResponse({ status, headers: [], body: "" }, "GET").statusText);
  expect(reasons).toEqual(statuses.map((status) => STATUS_CODES[status]));
});

test("a web request shows its body, unless it was declared empty", () => {
  const traits = (init: RequestInit) =>
    receivedWeb(new Request("https://any.example/", init), "/", "").traits;
  expect(traits({})).toEqual([]);
  expect(traits({ method: "POST", body: "x" })).toEqual(["body"]);
  expect(traits({ method: "POST", body: new Uint8Array(), headers: { "content-length": "0" } })).toEqual([]);
});

test("a web request shows the page that sent it", () => {
  const traits = (referrer: string) => {
    const request = { headers: new Headers(), body: null, referrer } as Request;
    return receivedRequest(receivedWeb(request, "/", "")).traits;
  };
  expect(traits("about:client")).toEqual([]);
  expect(traits("https://shop.example/orders")).toEqual(["browser header", "from page"]);
});
