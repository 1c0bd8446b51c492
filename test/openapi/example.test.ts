import { join } from "node:path";
import { setupServer } from "msw/node";
import { afterEach, expect, test } from "vitest";
// @ts-expect-error The example is JavaScript.
import * as client from "../../examples/openapi/client.js";
import { createSandbox } from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { loadScenario } from "../../src/node/files/load-scenario.js";
import { openSandbox } from "../support/doors.js";
import { root } from "../support/pages.js";
import { served } from "../support/servers.js";

const { changeReport, listReports, readReport, removeReport, requestReport } = client;
const { scenario: whole } = await loadScenario(join(root, "examples/openapi/scenario.yaml"));
const { faults: _, ...scenario } = whole;
const keys = openSandbox(scenario).secret;

/** Creates, reads, lists, changes and removes a report with the client of the example. */
async function useReports(url: string) {
  const main = keys("main");
  expect(await requestReport(url, main, 12)).toMatchObject({ id: "r-1", status: "pending" });
  expect(await readReport(url, main, "r-7")).toMatchObject({ id: "r-7" });
  expect(await listReports(url, main)).toHaveLength(1);
  expect(await changeReport(url, main, "r-7", { reason: "corrected" })).toMatchObject({ id: "r-7" });
  expect(await removeReport(url, main, "r-7")).toEqual({ removed: true });
  expect(await requestReport(url, keys("reader"), 12)).toMatchObject({ failed: 403 });
}

const server = setupServer();
afterEach(() => server.close());

test("the example's client creates, reads, lists, changes and removes a report through msw", async () => {
  server.use(...createHandlers(createSandbox({ scenario: scenario as never, openapi: readOpenApi() })));
  server.listen();
  await useReports("https://api.example");
});

test("the same through a socket", async () => useReports((await served({ scenario })).url));
