import { expect, test } from "vitest";
import { storySender } from "../../src/api/handle.js";
import { createSandbox, parseScenario } from "../../src/index.js";
import { captureText } from "../../src/library/capture.js";
import { runtimeOf } from "../../src/library/create-sandbox.js";
import { openWorld } from "../../src/node/platform.js";
import { conclusion, renderReport } from "../../src/report/report-document.js";
import { settled } from "../../src/sandbox/operations/operations.js";
import { runStory, stepProblems } from "../../src/sandbox/story/run-step.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { coverage } from "../support/coverage.js";
import { mePath } from "../support/send.js";

// What every tool does with endpoints that have input and records, shown with the announced ones.

test("a success of an announced endpoint is its own path, and covers nothing that the API promises", async () => {
  const sandbox = createSandbox({ scenario: "announced-endpoints" });
  const headers = { "x-api-key": sandbox.secret("lending") };
  const get = (path: string) => sandbox.fetch(`https://any.example${path}`, { headers });
  await get("/v1/relying-party/attestations");
  await get("/v1/relying-party/attestations?limit=0");
  const report = sandbox.report();
  expect(report).toMatchObject({ requests: 2, coverage: coverage(0) });
  const row = (wanted: string) => report.paths.find(({ pathId }) => pathId === wanted);
  expect(row("200.test")).toMatchObject({ met: false, count: 0 });
  expect(row("200.listAttestations")).toMatchObject({ met: true, count: 1, promised: false });
  const listed = { operationId: "listAttestations", announced: true, requests: 2, covered: true };
  expect(report.endpoints.filter(({ requests }) => requests > 0)).toMatchObject([listed]);
  expect(renderReport(report, "text")).toMatch(
    / {2}GET \/v1\/relying-party\/attestations +2 +covered, announced/,
  );
  expect(conclusion(report)).toContain("Announced endpoints: 1 of 5 covered.");
  await get("/v1/relying-party/attestations?limit=0");
  const rejected = { ...headers, "x-api-key": "none" };
  await sandbox.fetch("https://any.example/v1/relying-party/attestations", { headers: rejected });
  await get(mePath);
  const paths = sandbox.report().paths.filter(({ promised, met }) => promised && met);
  expect(paths.map(({ pathId }) => pathId)).toEqual(["200.test", "401.malformed"]);
});

test("a body of 64 KB is read, and of a longer one nothing more than that", async () => {
  const sandbox = createSandbox({ scenario: "announced-endpoints" });
  const headers = { "x-api-key": sandbox.secret("lending"), "content-type": "application/json" };
  const reasonFor = async (sizes: readonly number[]) => {
    let sent = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const size = sizes[sent++];
          if (size === undefined) controller.close();
          else controller.enqueue(new Uint8Array(size).fill(32));
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const { error } = await (
      await sandbox.fetch("https://any.example/v1/relying-party/consent-requests", init)
    ).json();
    return [error.details.reason, isCancelled];
  };
  expect(await reasonFor([65_535, 1])).toEqual(["it is not JSON", false]);
  expect(await reasonFor([65_535, 2, 9])).toEqual(["it is longer than 65536 bytes", true]);
});

test("a story's request has its query and its body, and the repeated headers of its response are one list", () => {
  const world = openWorld(bundledScenarios["announced-endpoints"]);
  const send = storySender(world);
  const post = {
    method: "POST",
    path: "/v1/relying-party/consent-requests",
    headers: {},
    keyHash: undefined,
  };
  const [without, empty, wrong] = [undefined, "", "{"].map((body) => send({ ...post, body } as never));
  expect([without, empty, wrong].map((seen) => seen?.pathId)).toEqual(Array(3).fill("401.missing"));
  expect(world.history.requests().map(({ traits }) => traits !== 0)).toEqual([false, false, false]);
  const unknown = send({ ...post, method: "GET", path: "/v1/none?a=b?c", body: "x" } as never);
  expect([unknown.status, unknown.headers["content-type"]]).toEqual([404, "application/json"]);
  expect(world.history.requests().at(-1)).toMatchObject({ path: "/v1/none", fromStory: true });
  expect(world.history.requests().at(-1)?.traits).not.toBe(0);
});

test("R46 nothing is kept of a query that may hold an encoded key", async () => {
  const sandbox = createSandbox({ scenario: "announced-endpoints" });
  const headers = { "x-api-key": sandbox.secret("lending") };
  const list = (query: string) =>
    sandbox.fetch(`https://any.example/v1/relying-party/attestations?${query}`, { headers });
  await list("limit=1&farmer_id=%00%53%00%56%00%43");
  await list(`limit=1&farmer_id=${btoa(`SVC_test_${"9f8e7d6c5b4a".repeat(3)}`)}`);
  expect(() => sandbox.capture()).toThrow(/since the last one that a story cannot repeat/);
  await list("limit=1");
  expect(sandbox.capture().story).toHaveLength(1);
});

test("what would be no scenario any more is refused, and a part of it is captured", async () => {
  const sandbox = createSandbox({ scenario: "announced-endpoints", frozen: true });
  const purpose = { code: "monitoring", text: "To see how it grows. ".repeat(23) };
  const body = JSON.stringify({ farmer_id: sandbox.farmers.at(0).farmer_id, purpose, permissions: ["land"] });
  const headers = { "x-api-key": sandbox.secret("lending"), "content-type": "application/json" };
  for (let sent = 0; sent < 900; sent++) {
    if (sent % 40 === 0) sandbox.clock.advance("61s");
    await sandbox.fetch("https://any/v1/relying-party/consent-requests", { method: "POST", headers, body });
  }
  const world = settled(runtimeOf(sandbox));
  expect(() => captureText(world)).toThrow(expect.objectContaining({ code: "capture_impossible" }));
  const from = sandbox.requests.list().at(-20)?.id;
  const part = captureText(world, { from });
  expect(part.match(/status: 201/g)).toHaveLength(20);
  const again = openWorld(parseScenario(part), { frozen: true });
  expect(runStory(again, storySender(again)).flatMap(stepProblems)).toEqual([]);
  expect(new Set(again.history.requests().map(({ status }) => status))).toEqual(new Set([201]));
});
