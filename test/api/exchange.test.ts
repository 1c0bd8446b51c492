import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { readApiRequest } from "../../src/api/read-request.js";
import type { ApiRequest } from "../../src/rules/request.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { collect } from "../support/collect.js";
import { startFrozen } from "../support/doors.js";
import { consents, withEndpoints } from "../support/scenario-endpoints.js";
import { asked } from "../support/send.js";

const unknown = "SVC_live_4eC39HqLyjWDarjtT1zdp7dc";
test("a request has the ref and the fingerprint of its key, or only the fingerprint of an unknown key", () => {
  const sandbox = startFrozen("key-states");
  const ask = (apiKey: string | undefined) => handle(sandbox, asked({ apiKey }));
  const fingerprint = (key: string) => sandbox.platform.sha256(key).slice(0, 12);
  const active = secretToSend(sandbox, "active");
  expect(ask(active)).toMatchObject({
    ...{ key: "active", fingerprint: fingerprint(active), presented: "well_formed" },
  });
  expect(ask(unknown)).toMatchObject({
    ...{ key: null, fingerprint: fingerprint(unknown), presented: "well_formed" },
  });
  expect(ask("")).toMatchObject({ key: null, fingerprint: fingerprint(""), presented: "malformed" });
  expect(ask(undefined)).toMatchObject({ key: null, fingerprint: null, presented: "missing" });
});

test.each<[string, (key: string) => Partial<ApiRequest>]>([
  ["the header", (apiKey) => ({ apiKey })],
  ["the path", (key) => ({ path: `/v1/${key}` })],
  [
    "the query",
    (key) => ({
      traits: ["query", "key in query"],
      evidence: { inQuery: [key], inUrl: [], inOtherHeaders: [], page: undefined },
    }),
  ],
  [
    "another header",
    (key) => ({
      traits: ["key in other header"],
      evidence: { inQuery: [], inUrl: [], inOtherHeaders: [key], page: undefined },
    }),
  ],
])("R46 nothing of a key in %s is in the record of its request", (_place, sent) => {
  const sandbox = startFrozen(withEndpoints);
  const good = secretToSend(sandbox, "main");
  for (const key of [good, unknown]) {
    const path = consents;
    const record = JSON.stringify(
      handle(sandbox, asked({ method: "POST", path, apiKey: good, ...sent(key) })),
    );
    expect(record).not.toContain(key.slice(-12));
    expect(record).not.toContain(sandbox.platform.sha256(key).slice(0, 20));
  }
});

const ends = Array.from({ length: 300 }, (_, index) => `${index}`);

test.each<[string, (end: string) => Partial<ApiRequest>]>([
  ["path of words", (end) => ({ path: `/x${"/word".repeat(12_000)}${end}` })],
  ["referrer", (end) => pageOf(`https://shop-${end}.example/${"x".repeat(60_000)}`)],
])("the records of requests keep no %s of 60 kB", (_what, sent) => {
  const sandbox = startFrozen(withEndpoints);
  const ask = (end: string) => {
    const [path, apiKey] = [consents, secretToSend(sandbox, "main")];
    handle(sandbox, asked({ method: "POST", path, apiKey, ...sent(end) }));
  };
  ask("first");
  collect();
  const before = process.memoryUsage().heapUsed;
  for (const end of ends) ask(end);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
  expect(sandbox.journal.requests()).toHaveLength(301);
});

test("a request without a key to a path of probes is in the journal if the story sends it", () => {
  const sandbox = startFrozen("key-states");
  for (const fromStory of [false, true]) handle(sandbox, asked({ path: "/favicon.ico", fromStory }));
  expect(sandbox.journal.requests().map(({ path, fromStory }) => [path, fromStory])).toEqual([
    ["/favicon.ico", true],
  ]);
});

function pageOf(referer: string): Partial<ApiRequest> {
  const headers = ["referer", referer, "access-control-request-headers", "x-api-key"];
  const { traits, evidence } = readApiRequest({ method: "OPTIONS", path: consents, query: "", headers });
  return { traits, evidence };
}
