import { STATUS_CODES } from "node:http";
import { expect, test } from "vitest";
import { failures } from "../spec/fault.js";
import { outcomes } from "../spec/outcomes.js";
import { toResponse } from "./web-request.js";

test("each status has the reason phrase that Node's server sends", () => {
  const given = [201, ...outcomes.map(({ status }) => status), ...Object.keys(failures).map(Number)];
  // Faults without a response have the status 0.
  const statuses = [...new Set(given)].filter((status) => status > 0);
  const reasons = statuses.map((status) => toResponse({ status, headers: [], body: "" }, "GET").statusText);
  expect(reasons).toEqual(statuses.map((status) => STATUS_CODES[status]));
});
