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

/** Creates, reads, lists, changes and removes a report at this address, with the client of the example. */
async function useReports(url: string) {
  const [main, other] = [keys("main"), keys("other")];
  const { id, status } = await requestReport(url, main, 12);
  expect(await readReport(url, main, id)).toMatchObject({ id, status });
  expect(await listReports(url, main)).toEqual([id]);
  expect(await changeReport(url, main, id, { reason: "corrected" })).toMatchObject({ id });
  expect(await readReport(url, other, id)).toMatchObject({ failed: 404 });
  expect(await listReports(url, other)).toEqual([]);
  expect(await removeReport(url, main, id)).toEqual({ removed: true });
  expect(await readReport(url, main, id)).toMatchObject({ failed: 404 });
}

const server = setupServer();
afterEach(() => server.close());

test("the example's client creates, reads, lists, changes and removes a record through msw", async () => {
  server.use(...createHandlers(createSandbox({ scenario: scenario as never, openapi: readOpenApi() })));
  server.listen();
  await useReports("https://api.example");
});

test("the same through a socket", async () => useReports((await served({ scenario })).url));
