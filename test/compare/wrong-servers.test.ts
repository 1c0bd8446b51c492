import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Misbehave, Reply } from "../support/probed-server.js";
import { allProbeKeys, probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";

interface WrongServer {
  readonly does: string;
  readonly to: readonly string[];
  readonly set: Readonly<Record<string, unknown>>;
  readonly says: readonly [where: string, expected: string, found: string];
}

const cases: readonly WrongServer[] = parse(
  readFileSync(new URL("../cases/wrong-servers.yaml", import.meta.url), "utf8"),
);

/** Compares a server with the contract and expects this difference. */
async function expectDifference(misbehave: Misbehave, says: WrongServer["says"], ...argv: string[]) {
  const { url } = await serveProbed(misbehave);
  const args = ["compare", url, ...argv];
  const { code, stdout, stderr } = await runCli(args, { env: allProbeKeys });
  const [where, expected, found] = says.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const lines = `^  ${where}(?:  (?:request|seen).*)?\n    expected  ${expected}.*\n    found     ${found}`;
  expect(stdout).toMatch(new RegExp(lines, "m"));
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
}

test.each(cases)("a comparison finds a server that $does", async ({ to, set, says }) => {
  await expectDifference((reply, { ref }) => {
    if (!to.includes(ref)) return;
    for (const [path, value] of Object.entries(set)) setIn(reply, path, value);
  }, says);
});

const noResponse = (found: string) => ["200.test  connection  R1", "a response", found] as const;
const json = { "Content-Type": "application/json" };
const packed = (reply: Reply, encoding: string, bytes: Buffer) => {
  reply.headers["Content-Encoding"] = encoding;
  reply.bytes = bytes;
};
const blank = Buffer.alloc(5_000_000, 0x20);

test.each<[does: string, misbehave: Misbehave, says: WrongServer["says"]]>([
  ["R1 never responds to a good key", () => "handled", noResponse("no response came within 1 s")],
  [
    "R1 never ends its response",
    (_reply, { response }) => {
      response.writeHead(200, json).write('{"data":');
      return "handled";
    },
    noResponse("the response did not end within 1 s"),
  ],
  [
    "R1 resets the connection",
    (_reply, { response }) => {
      response.socket?.resetAndDestroy();
      return "handled";
    },
    noResponse("read ECONNRESET"),
  ],
  [
    "R1 cuts the body off",
    (_reply, { response }) => {
      response.writeHead(200, { ...json, "Content-Length": 500 });
      response.write('{"data":{"organization":', () => response.socket?.destroy());
      return "handled";
    },
    noResponse("a body that was cut off after 24 of 500 bytes"),
  ],
  [
    "R1 sends a huge body",
    (reply) => void Object.assign(reply, { bytes: blank }),
    noResponse("a body of more than 64 kB, which was not read to its end"),
  ],
  [
    "R1 packs a response that was asked for as it is",
    (reply) => packed(reply, "gzip", gzipSync(JSON.stringify(reply.body))),
    ["200.test  Content-Encoding  R1", "nothing, because the request did not ask for an encoding", '"gzip"'],
  ],
  [
    "R1 sends a body that is not UTF-8",
    (reply) => void Object.assign(reply, { bytes: Buffer.from([0x7b, 0xff, 0x7d]) }),
    ["200.test  body  R1", "JSON", "a body that is not UTF-8"],
  ],
  [
    "R24 counts each request twice",
    (reply, { count }) => setIn(reply, "body.data.usage.today", 2 * count),
    ["200.test  $.data.usage.today  R6, R24", "one more than in the response before", "2 more; does another"],
  ],
  [
    "R34 repeats the key in its body",
    (reply, { apiKey }) => setIn(reply, "body.data.environment", apiKey),
    ["200.test  body  R34", "no key", "a key"],
  ],
  [
    "R34 repeats the key in a header",
    (reply, { apiKey }) => setIn(reply, "headers.X-Key", apiKey),
    ["200.test  X-Key  R34", "no key", "a key"],
  ],
  [
    "R34 repeats the key in the name of a header",
    (reply, { apiKey }) => setIn(reply, `headers.X-${apiKey}`, "1"),
    ["200.test  X-SVC_test_…  R34", "no key", "a key"],
  ],
  [
    "R34 repeats the key in the reason phrase",
    (reply, { apiKey }) => void Object.assign(reply, { reason: `OK ${apiKey}` }),
    ["200.test  reason phrase  R34", "no key", "a key"],
  ],
  [
    "R34 shows another key than the one that was sent",
    (reply) => setIn(reply, "headers.X-Key", probeKeys.SVC_KEY_LIVE),
    ["200.test  X-Key  R34", "no key", "a key"],
  ],
])("a comparison finds a server that %s", async (_does, misbehave, says) => {
  const toActive: Misbehave = (reply, presented) =>
    presented.ref === "active" ? misbehave(reply, presented) : undefined;
  // Only who waits in vain waits less: a busy server may be late with the other responses.
  await expectDifference(toActive, says, ...(says[2].includes("within 1 s") ? ["--timeout", "1s"] : []));
});

test("the request id of a response that differs is named, to be quoted", async () => {
  const { url } = await serveProbed((reply, { ref }) => {
    if (ref === "active") setIn(reply, "body.data.environment", "live");
  });
  const { stdout } = await runCli(["compare", url], { env: probeKeys });
  expect(stdout).toMatch(/\$\.data\.environment {2}R3 {2}request req-2, seen \d of \d times\n/);
});

test("a comparison finds a server that sends a 503 for a key at its limit", async () => {
  const misbehave: Misbehave = (reply, { ref }) => {
    if (ref === "rate-limited") setIn(reply, "status", 503);
  };
  await expectDifference(misbehave, ["429.per_day  status  R23", "429", "503"], "--probe-limits");
});
