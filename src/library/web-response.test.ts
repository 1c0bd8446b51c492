import { STATUS_CODES } from "node:http";
import { expect, test } from "vitest";
import { failures } from "../domain/fault.js";
import { outcomes } from "../domain/outcomes.js";
import { toResponse } from "./web-response.js";

test("each status of an answer has the reason phrase that Node's server sends", () => {
  const given = [201, ...outcomes.map(({ status }) => status), ...Object.keys(failures).map(Number)];
  // Faults that leave nothing with a status have 0.
  const statuses = [...new Set(given)].filter((status) => status > 0);
  const reasons = statuses.map((status) => toResponse({ status, headers: [], body: "" }, "GET").statusText);
  expect(reasons).toEqual(statuses.map((status) => STATUS_CODES[status]));
});
