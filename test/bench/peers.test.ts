import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closureOf } from "../../bench/peers/install.js";
import { type Exchange, faultOf, makeJob, mixed } from "../../bench/peers/job.js";
import { closingOf } from "../../bench/peers/measure.js";
import { peers } from "../../bench/peers/peers.js";
import { plotOf } from "../../bench/peers/plot.js";
import { type Results, spreadOf, withReading } from "../../bench/peers/results.js";
import { partOf } from "../../bench/peers/table.js";
import { mappingOf } from "../../bench/peers/wiremock.js";
import { createSandbox } from "../../src/index.js";
import { pageOf, root } from "../support/pages.js";

// Peers are measured by `npm run bench:peers`; here are the job that all of them get, and what is made of it.

const fileOf = (name: string, job: Awaited<ReturnType<typeof makeJob>>, file: string) =>
  JSON.parse(peers.find((peer) => peer.name === name)?.files(job, 4100)[file] as string);

test("the job of fifteen keys has the answers of key-states, but for limits that outlast a load", async () => {
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  const { exchanges } = await makeJob(15);
  expect(exchanges).toHaveLength(15);
  for (const { ref, key, status, body } of exchanges) {
    const bundled = sandbox.secret(ref as "active");
    expect(key).toBe(bundled);
    const response = await sandbox.fetch("https://any.example/v1/relying-party/me", {
      headers: { "x-api-key": bundled },
    });
    const answer = (await response.text()).replace(/"limits":\{[^}]*\}/, '"limits":{}');
    expect([ref, status, body.replace(/"limits":\{[^}]*\}/, '"limits":{}')]).toEqual([
      ref,
      response.status,
      answer,
    ]);
  }
});

test("a larger job has that many keys, all of them different, and mixes them the same way each time", async () => {
  const { exchanges } = await makeJob(1000);
  expect(new Set(exchanges.map(({ key }) => key)).size).toBe(1000);
  expect(new Set(exchanges.map(({ status }) => status))).toEqual(new Set([200, 401, 403, 429]));
  const order = mixed(exchanges);
  expect(order).toEqual(mixed(exchanges));
  expect(order).not.toEqual(exchanges);
  expect(new Set(order)).toEqual(new Set(exchanges));
});

test.each(peers)("$title gets every key's answer, and listens where it is told", async ({
  files,
  start,
  headerLine,
}) => {
  const job = await makeJob(15);
  const place = {
    folder: "f",
    modules: "m",
    programs: "p",
    sandbox: "s",
    node: "node",
    port: 4100,
    spare: 4101,
  };
  const written = files(job, place.port);
  const texts = Object.values(written).join("\n");
  for (const { ref, key } of job.exchanges) {
    // The sandbox makes its keys itself; Prism gets the name of an example instead of a key.
    expect(texts).toContain(headerLine === undefined && !("job.yaml" in written) ? key : ref);
  }
  expect([texts, ...start(place, job).argv].join(" ")).toContain("4100");
});

const denied: Exchange = { ref: "a", key: "SVC_test_a", status: 403, body: '{"error":{"code":"x"}}' };

test("WireMock gets a stub mapping for each key", async () => {
  expect(mappingOf(denied)).toEqual({
    request: {
      method: "GET",
      urlPath: "/v1/relying-party/me",
      headers: { "X-Api-Key": { equalTo: "SVC_test_a" } },
    },
    response: { status: 403, headers: { "Content-Type": "application/json" }, body: denied.body },
  });
  const { mappings } = fileOf("wiremock", await makeJob(15), "mappings/keys.json");
  expect(mappings).toHaveLength(15);
});

test("Prism gets an example for each key under its status, and each request asks for one", async () => {
  const job = { ...(await makeJob(15)), exchanges: [denied] };
  const document = fileOf("prism", job, "openapi.json");
  const { responses } = document.paths["/v1/relying-party/me"].get;
  expect(responses[403].content["application/json"].examples).toEqual({
    a: { value: { error: { code: "x" } } },
  });
  const prism = peers.find(({ name }) => name === "prism");
  expect(prism?.headerLine?.(denied)).toBe("Prefer: code=403, example=a");
});

test("the others get the answers by their keys", async () => {
  const job = { ...(await makeJob(15)), exchanges: [denied] };
  const answers = { SVC_test_a: { status: 403, body: { error: { code: "x" } } } };
  expect(fileOf("json-server", job, "answers.json")).toEqual(answers);
  expect(fileOf("msw", job, "answers.json")).toEqual(answers);
  expect(fileOf("mountebank", job, "answers.json").SVC_test_a).toMatchObject({
    statusCode: 403,
    headers: { Connection: "keep-alive" },
    body: denied.body,
  });
  const [bucket] = fileOf("mockoon", job, "environment.json").data;
  expect(JSON.parse(bucket.value)).toEqual({ SVC_test_a: { status: 403, body: denied.body } });
});

test("an answer is right by status, type and body, whatever usage it counts and however it is spaced", () => {
  const good: Exchange = { ...denied, status: 200, body: '{"data":{"usage":{"today":1}}}' };
  const type = "application/json; charset=utf-8";
  expect(
    faultOf(good, { status: 200, type, body: '{ "data": { "usage": { "today": 70 } } }' }),
  ).toBeUndefined();
  expect(faultOf(denied, { status: 403, type, body: denied.body })).toBeUndefined();
  expect(faultOf(denied, { status: 401, type, body: denied.body })).toContain("status 401");
  expect(faultOf(denied, { status: 403, type: "text/html", body: denied.body })).toContain("text/html");
  expect(faultOf(denied, { status: 403, type, body: "{}" })).toContain("body {}");
});

test("the end of an answer on the wire is what all bodies end with, or the last chunk", () => {
  const bodies = ['{"data":{"usage":{"today":1}}}', denied.body, '{"error":{"code":"yy"}}'];
  expect(closingOf(bodies.map((body) => ({ body, isChunked: false })))).toBe("}}");
  expect(closingOf(bodies.map((body) => ({ body, isChunked: true })))).toBe("0\r\n\r\n");
});

test("the packages of a peer are those that Node would find, each once, without optional peers", () => {
  const locked = {
    "": {},
    "node_modules/a": { dependencies: { b: "1", c: "1" }, optionalDependencies: { missing: "1" } },
    "node_modules/a/node_modules/b": { dependencies: { c: "1" } },
    "node_modules/b": { version: "2" },
    "node_modules/c": {
      peerDependencies: { a: "1", d: "1" },
      peerDependenciesMeta: { d: { optional: true } },
    },
    "node_modules/d": {},
  };
  expect(closureOf(locked, ["a"])).toEqual([
    "node_modules/a",
    "node_modules/a/node_modules/b",
    "node_modules/c",
  ]);
});

test("results of another version are not kept beside new ones", () => {
  const one = spreadOf([0.5, 0.25, 0.75]);
  expect(one).toEqual({ median: 0.5, least: 0.25, most: 0.75 });
  const reading = { requests: one, p99: one, firstAnswer: one, memory: { idle: 1, after: 2 } };
  const size = { bytes: 1, packages: 1 };
  const first = withReading({ machine: "m", peers: {} }, "prism", { version: "1", size }, 15, reading);
  const both = withReading(first, "prism", { version: "1", size }, 1000, { failure: "too slow" });
  expect(Object.keys(both.peers.prism?.readings ?? {})).toEqual(["15", "1000"]);
  const newer = withReading(both, "prism", { version: "2", size }, 15, reading);
  expect(Object.keys(newer.peers.prism?.readings ?? {})).toEqual(["15"]);
  expect(partOf(both)).toContain("With 1,000 keys: too slow.");
});

test("docs/benchmarks.md and its plot show the results that were measured (npm run bench:peers -- --write)", () => {
  const results = JSON.parse(readFileSync(join(root, "bench/peers/results.json"), "utf8")) as Results;
  expect(Object.keys(results.peers).sort()).toEqual(peers.map(({ name }) => name).sort());
  expect(pageOf("docs/benchmarks.md")).toContain(`<!-- peers -->\n\n${partOf(results)}\n\n<!-- /peers -->`);
  expect(readFileSync(join(root, "docs/images/peers.svg"), "utf8")).toBe(plotOf(results));
});
