import { expect, test } from "vitest";
import { type Exchange, faultOf, makeJob, mixed } from "../../bench/peers/job.js";
import { closingOf } from "../../bench/peers/measure.js";
import { peers } from "../../bench/peers/peers.js";
import { createSandbox } from "../../src/index.js";

// `npm run bench:peers` measures the peers; these are the job of all of them, and what each makes of it.

const type = "application/json";
const denied: Exchange = { ref: "a", key: "SVC_test_a", status: 403, body: '{"error":{"code":"x"}}' };

test("a job of its keys has the responses of key-states, except limits that outlast a load", async () => {
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  const bare = (body: string) => body.replace(/"limits":\{[^}]*\}/, '"limits":{}');
  const all = sandbox.keys.list().length;
  const { exchanges } = await makeJob(all);
  expect(exchanges).toHaveLength(all);
  for (const { ref, key, status, body } of exchanges) {
    const response = await sandbox.fetch("https://a/v1/relying-party/me", { headers: { "x-api-key": key } });
    expect([ref, response.status, bare(await response.text())]).toEqual([ref, status, bare(body)]);
  }
});

test("a larger job has nearly that many keys, all of them different, in the same mixed order each time", async () => {
  const { exchanges } = await makeJob(1000);
  expect(exchanges.length).toBeGreaterThan(990);
  expect(new Set(exchanges.map(({ key }) => key)).size).toBe(exchanges.length);
  expect(new Set(exchanges.map(({ status }) => status))).toEqual(new Set([200, 401, 403, 429]));
  const order = mixed(exchanges);
  expect(order).toEqual(mixed(exchanges));
  expect(order).not.toEqual(exchanges);
  expect(new Set(order)).toEqual(new Set(exchanges));
});

test.each(Object.entries(peers))("%s gets each key and its response, and listens on the port", async (name, {
  files,
  command,
}) => {
  const job = await makeJob(15);
  const texts = Object.values(files(job, 4100)).join("\n");
  // The sandbox makes its keys itself.
  const isByRef = name === "ours";
  for (const { ref, key } of job.exchanges) expect(texts).toContain(isByRef ? ref : key);
  expect([texts, ...command(4100)].join(" ")).toContain("4100");
});

test("a response is correct by status, type and body, no matter its usage and spaces", () => {
  const good: Exchange = { ...denied, status: 200, body: '{"data":{"usage":{"today":1}}}' };
  const spaced = '{ "data": { "usage": { "today": 70 } } }';
  expect(faultOf(good, { status: 200, type: `${type}; charset=utf-8`, body: spaced })).toBeUndefined();
  expect(faultOf(denied, { status: 401, type, body: denied.body })).toContain("status 401");
  expect(faultOf(denied, { status: 403, type: "text/html", body: denied.body })).toContain("text/html");
  expect(faultOf(denied, { status: 403, type, body: "{}" })).toContain("body {}");
});

test("the end of a response on the wire is the common end of all bodies, or the last chunk", () => {
  const bodies = ['{"data":{"usage":{"today":1}}}', denied.body, '{"error":{"code":"yy"}}'];
  expect(closingOf(bodies.map((body) => ({ body, isChunked: false })))).toBe("}}");
  expect(closingOf(bodies.map((body) => ({ body, isChunked: true })))).toBe("0\r\n\r\n");
});
