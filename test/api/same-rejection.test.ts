import { afterAll, beforeAll, expect, test } from "vitest";
import { base62From, pick, randomStream } from "../../src/rules/seed.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretsByRef, secretToSend } from "../../src/sandbox/secrets.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { type RunningServer, serve } from "../../src/server/serve.js";
import { mePath, startFrozen } from "../support/doors.js";
import { below } from "../support/hostile-requests.js";
import { converse } from "../support/raw-socket.js";

let sandbox: SandboxState;
let server: RunningServer;
let port: number;
/** The response to a request without a key, as bytes without their date. */
let rejection: string;

beforeAll(async () => {
  sandbox = await startFrozen("key-states");
  server = await serve(sandbox, { port: 0 });
  port = Number(new URL(server.url).port);
  rejection = await responseTo([]);
});

afterAll(() => server.close(100));

/** The bytes that these header lines get, status line, header names, order and casing included, but not the date. */
async function responseTo(lines: readonly string[]): Promise<string> {
  const text = [`GET ${mePath} HTTP/1.1`, "Host: 127.0.0.1", ...lines, "", ""].join("\r\n");
  return withoutDate((await converse(port, { chunks: [text] })).toString("latin1"));
}

function withoutDate(response: string): string {
  return response.replace(/^Date: .*$/gm, "Date: …");
}

const secretOf = (ref: string) => secretToSend(sandbox, ref);

/** The header lines of every way to present a key that the rules reject; `{active}` is the key of that ref. */
const rejected: readonly (readonly [title: string, ...lines: string[]])[] = [
  ["R9 a missing key"],
  ["R10 an empty header", "X-Api-Key:"],
  ["R10 a bearer token", "X-Api-Key: Bearer {active}"],
  ["R10 a key in another letter case", "X-Api-Key: {ACTIVE}"],
  ["R10 two different good keys", "X-Api-Key: {active}", "X-Api-Key: {legacy}"],
  ["R10 the same good key twice", "X-Api-Key: {active}", "x-api-key: {active}"],
  ["R10 two good keys in one header", "X-Api-Key: {active}, {legacy}"],
  ["R10 a key of 16 KB", `X-Api-Key: SVC_test_${"a".repeat(16_384)}`],
  ["R10 bytes outside ASCII", "X-Api-Key: SVC_test_\u00e9\u00ff\u00a0"],
  ["R10 the key in the wrong header", "Authorization: {active}", "Api-Key: {active}"],
  ["R11 an unknown key", "X-Api-Key: {unknown}"],
  ["R11 R15 a good key behind the prefix of the other environment", "X-Api-Key: {SVC_live_}"],
  ["R11 R15 a good key behind the prefix of a legacy key", "X-Api-Key: {legacysvc_test_}"],
  ["R12 a revoked key", "X-Api-Key: {revoked}"],
  ["R13 an expired key", "X-Api-Key: {expired}"],
  ["R38 a rotated key", "X-Api-Key: {rotated}"],
];

function filled(line: string): string {
  return line.replace(/\{([\w ]+)\}/g, (_all, ref: string) => {
    if (ref === "unknown") return unknownSecret(sandbox.seed);
    if (ref.endsWith("_")) return secretOf("active").replace("SVC_test_", ref);
    return ref === "ACTIVE" ? secretOf("active").toUpperCase() : secretOf(ref);
  });
}

test("R14 the rejection is a 401 with nothing in it but what every rejection has", () => {
  expect(rejection).toBe(
    [
      "HTTP/1.1 401 Unauthorized",
      "Content-Type: application/json",
      "Content-Length: 74",
      "Date: …",
      "Connection: keep-alive",
      "Keep-Alive: timeout=5",
      "",
      '{"error":{"code":"unauthorized","message":"A valid API key is required."}}',
    ].join("\r\n"),
  );
});

test.each(rejected)("R14 %s gets the same bytes as a missing one", async (_title, ...lines) => {
  expect(await responseTo(lines.map(filled))).toBe(rejection);
});

test("R14 1,000 random wrong keys, most of them nearly good ones, get the same bytes as a missing key", async () => {
  const draw = randomStream(20260302, "wrong keys");
  const known = Object.values(secretsByRef(sandbox));
  const letters = "0Aa1Zz9_-. ";
  const wrong = Array.from({ length: 1000 }, () => {
    const key = pick(draw, known);
    const [at, letter] = [below(draw, key.length), pick(draw, [...letters])];
    const one = pick(draw, [
      key.slice(0, at) + letter + key.slice(at + 1),
      key.slice(0, at) + key.slice(at + 1),
      key.slice(0, at) + letter + key.slice(at),
      key.slice(0, at),
      [...key].reverse().join(""),
      `SVC_${pick(draw, ["test", "live"])}_sbx${base62From(draw, below(draw, 40))}`,
    ]);
    // A good key stays good with white space around it.
    return known.includes(one.trim()) ? `${key}x` : one;
  });
  const text = wrong.map((key) => `GET ${mePath} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${key}\r\n\r\n`);
  const responses = (await converse(port, { chunks: [text.join("")] }))
    .toString("latin1")
    .split(/(?=HTTP\/1\.1 )/);
  expect(responses).toHaveLength(1000);
  expect(new Set(responses.map(withoutDate))).toEqual(new Set([rejection]));
});

test.each([
  ["with white space around it", (key: string) => `X-Api-Key: \t ${key} \t`],
  ["in a header of mixed case", (key: string) => `x-aPI-kEy: ${key}`],
])("a good key %s is a good key", async (_how, line) => {
  expect(await responseTo([line(secretOf("active"))])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});
