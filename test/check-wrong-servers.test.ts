import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Misbehave, probeKeys, type Reply, serveProbed } from "./support/probed-server.js";
import { runCli } from "./support/run-cli.js";

// biome-ignore lint/suspicious/noExplicitAny: the bodies are made wrong here
const data = (reply: Reply) => (reply.body as any).data;
// biome-ignore lint/suspicious/noExplicitAny: the bodies are made wrong here
const error = (reply: Reply) => (reply.body as any).error;

/** Makes the answers to these refs wrong. */
const to =
  (refs: string | readonly string[], change: Misbehave): Misbehave =>
  (reply, presented) =>
    refs.includes(presented.ref) ? change(reply, presented) : undefined;

const html = "<!DOCTYPE html><html><body>Bad gateway</body></html>";
const asHtml = (status: number) => (reply: Reply) => {
  Object.assign(reply, { status, headers: { "Content-Type": "text/html" }, bytes: html });
};

/** What a check says of a difference: path, place, rules; what was expected; what was found. */
function difference(where: string, expected: string, found: string): RegExp {
  const escaped = [where, expected, found].map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^  ${escaped[0]}.*\n    expected  ${escaped[1]}.*\n    found     ${escaped[2]}`, "m");
}

const wrongServers: readonly (readonly [title: string, misbehave: Misbehave, says: RegExp])[] = [
  [
    "R14 tells an expired key from an unknown one in its message",
    to(["expired"], (reply) => {
      error(reply).message = "The key has expired.";
    }),
    difference(
      "401.expired  $.error.message  R14",
      '"No valid key.", as for 401.missing',
      '"The key has expired."',
    ),
  ],
  [
    "R14 tells an expired key from an unknown one in its details",
    to(["expired"], (reply) => {
      error(reply).details = { expired_at: "2026-01-01" };
    }),
    difference(
      "401.expired  $.error.details  R14",
      "nothing, as for 401.missing",
      '{"expired_at":"2026-01-01"}',
    ),
  ],
  [
    "R14 tells a revoked key from an unknown one by a header",
    to(["revoked"], (reply) => {
      reply.headers["X-Reason"] = "revoked";
    }),
    difference("401.revoked  X-Reason  R14", "no such header, as for 401.missing", '"revoked"'),
  ],
  [
    "R14 tells a missing key by another challenge",
    (reply, { ref }) => {
      if (reply.status === 401)
        reply.headers["WWW-Authenticate"] = ref === "none" ? "ApiKey" : 'ApiKey error="bad"';
    },
    difference(
      "401.malformed  WWW-Authenticate  R14",
      '"ApiKey", as for 401.missing',
      '"ApiKey error=\\"bad\\""',
    ),
  ],
  [
    "R14 writes the same body in another way for a malformed key",
    to(["malformed"], (reply) => {
      reply.bytes = JSON.stringify(reply.body, null, 1);
    }),
    difference("401.malformed  body  R14", '"{\\"error\\":', '"{'),
  ],
  [
    "R13 names the reason in the code of a 401",
    to(["expired"], (reply) => {
      error(reply).code = "key_expired";
    }),
    difference(
      "401.expired  $.error.code  R13, R28",
      '"unauthorized"',
      '"key_expired", which is not listed for 401',
    ),
  ],
  [
    "R1 leaves data out",
    to(["active"], (reply) => {
      reply.body = data(reply);
    }),
    difference("200.test  $.data  R1", "an object", "nothing"),
  ],
  [
    "R1 adds a member at the top level",
    to(["active"], (reply) => {
      Object.assign(reply.body as object, { meta: {} });
    }),
    difference("200.test  $.meta  R1", "nothing but data", "an object"),
  ],
  [
    "R2 adds a member to the organization",
    to(["active"], (reply) => {
      data(reply).organization.country = "NL";
    }),
    difference("200.test  $.data.organization.country  R2", "nothing but id, name, type", 'the string "NL"'),
  ],
  [
    "R2 has an organization id that is no UUID",
    to(["live"], (reply) => {
      data(reply).organization.id = "17";
    }),
    difference("200.live  $.data.organization.id  R2", "a UUID", 'the string "17"'),
  ],
  [
    "R2 has a type of organization that there is not",
    to(["active"], (reply) => {
      data(reply).organization.type = "Bank";
    }),
    difference("200.test  $.data.organization.type  R2", '"bank" or "insurer"', 'the string "Bank"'),
  ],
  [
    "R3 says that a test key is a live one",
    to(["active"], (reply) => {
      data(reply).environment = "live";
    }),
    difference("200.test  $.data.environment  R3", `"test", as the key's prefix says`, 'the string "live"'),
  ],
  [
    "R4 gives the scopes as a string",
    to(["active"], (reply) => {
      data(reply).scopes = "attestations:read";
    }),
    difference("200.test  $.data.scopes  R4", "an array of at least 1", 'the string "attestations:read"'),
  ],
  [
    "R5 gives a limit as a string",
    to(["active"], (reply) => {
      data(reply).limits.per_minute = "60";
    }),
    difference("200.test  $.data.limits.per_minute  R5", "an integer of at least 0", 'the string "60"'),
  ],
  [
    "R6 does not count the current request",
    to(["active", "live"], (reply, { count }) => {
      data(reply).usage.today = count - 1;
    }),
    difference("200.test  $.data.usage.today  R6", "an integer of at least 1", "the number 0"),
  ],
  [
    "R24 counts nothing",
    to(["active"], (reply) => {
      data(reply).usage.today = 5;
    }),
    difference("200.test  $.data.usage.today  R6, R24", "6, one more than in the answer before", "5"),
  ],
  [
    "R24 counts each request twice",
    to(["active"], (reply, { count }) => {
      data(reply).usage.today = 2 * count;
    }),
    difference(
      "200.test  $.data.usage.today  R6, R24",
      "3, one more than in the answer before",
      "4; does another",
    ),
  ],
  [
    "R7 leaves the request id out",
    to(["active"], (reply) => {
      delete reply.headers["X-Request-Id"];
    }),
    difference("200.test  X-Request-Id  R7", "a request id", "nothing"),
  ],
  [
    "R7 gives the same request id twice",
    to(["active", "live"], (reply) => {
      reply.headers["X-Request-Id"] = "req-7";
    }),
    difference(
      "200.live  X-Request-Id  R7",
      "another request id than that of an earlier answer",
      "req-7 again",
    ),
  ],
  [
    "R1 answers a good key with an HTML page and 200",
    to(["active"], asHtml(200)),
    difference("200.test  body  R1", "JSON", 'an HTML page that begins with "<!DOCTYPE html>'),
  ],
  [
    "R1 answers a good key with an HTML page and 502",
    to(["active"], asHtml(502)),
    difference("200.test  status  R1", "200", '502, an HTML page that begins with "<!DOCTYPE html>'),
  ],
  [
    "R1 redirects a good key",
    to(["active"], (reply) => {
      Object.assign(reply, { status: 302, headers: { Location: "https://login.example/" }, bytes: "" });
    }),
    difference(
      "200.test  status  R1",
      "200",
      "302, a redirect to https://login.example/, which was not followed",
    ),
  ],
  [
    "R1 hangs on a good key",
    to(["active"], () => "handled"),
    difference("200.test  connection  R1", "an answer", "no answer came within 0.25 s"),
  ],
  [
    "R1 never ends its answer",
    to(["active"], (_reply, { response }) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.write('{"data":');
      return "handled";
    }),
    difference("200.test  connection  R1", "an answer", "the answer did not end within 0.25 s"),
  ],
  [
    "R1 resets the connection",
    to(["active"], (_reply, { response }) => {
      response.socket?.resetAndDestroy();
      return "handled";
    }),
    difference(
      "200.test  connection  R1",
      "an answer",
      "the connection was closed before an answer came (ECONNRESET)",
    ),
  ],
  [
    "R1 cuts the body off",
    to(["active"], (_reply, { response }) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 500 });
      response.write('{"data":{"organization":', () => response.socket?.destroy());
      return "handled";
    }),
    difference("200.test  connection  R1", "an answer", "a body that was cut off after 24 of 500 bytes"),
  ],
  [
    "R1 sends a huge body",
    to(["active"], (reply) => {
      reply.bytes = Buffer.alloc(5_000_000, 0x20);
    }),
    difference(
      "200.test  connection  R1",
      "an answer",
      "a body of more than 64 kB, which was not read to its end",
    ),
  ],
  [
    "R1 sends a body that unpacks to a huge one",
    to(["active"], (reply) => {
      reply.headers["Content-Encoding"] = "br";
      reply.bytes = brotliCompressSync(Buffer.alloc(5_000_000, 0x20));
    }),
    difference("200.test  connection  R1", "an answer", "a body of more than 64 kB"),
  ],
  [
    "R1 compresses what was asked for as it is",
    to(["active"], (reply) => {
      reply.headers["Content-Encoding"] = "gzip";
      reply.bytes = gzipSync(JSON.stringify(reply.body));
    }),
    difference("200.test  Content-Encoding  R1", "nothing, since no encoding was asked for", '"gzip"'),
  ],
  [
    "R1 sends JSON as text",
    to(["active"], (reply) => {
      reply.headers["Content-Type"] = "text/plain";
    }),
    difference("200.test  Content-Type  R1", "application/json", '"text/plain"'),
  ],
  [
    "R1 sends what is not JSON",
    to(["active"], (reply) => {
      reply.bytes = "{'data': None}";
    }),
    difference("200.test  body  R1", "JSON", `text that begins with "{'data': None}"`),
  ],
  [
    "R1 sends what is not UTF-8",
    to(["active"], (reply) => {
      reply.bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    }),
    difference("200.test  body  R1", "JSON", "a body that is not UTF-8"),
  ],
  [
    "R27 sends problem details instead of the error body",
    to(["wrong-scope"], (reply) => {
      reply.headers["Content-Type"] = "application/problem+json";
      reply.body = { type: "about:blank", title: "Forbidden", status: 403 };
    }),
    difference("403.insufficient_scope  $.error  R27", "an object", "nothing"),
  ],
  [
    "R27 sends an error without a message",
    to(["wrong-scope"], (reply) => {
      error(reply).message = undefined;
    }),
    difference("403.insufficient_scope  $.error.message  R27", "a string", "nothing"),
  ],
  [
    "R27 sends details that are a text",
    to(["wrong-scope"], (reply) => {
      error(reply).details = "attestations:read";
    }),
    difference("403.insufficient_scope  $.error.details  R27", "an object", 'the string "attestations:read"'),
  ],
  [
    "R28 sends a 403 with a code that is not listed",
    to(["wrong-scope"], (reply) => {
      error(reply).code = "forbidden";
    }),
    difference(
      "403.insufficient_scope  $.error.code  R21, R28",
      '"insufficient_scope"',
      '"forbidden", which is not listed for 403',
    ),
  ],
  [
    "R21 sends a 403 with the code of another reason",
    to(["wrong-scope"], (reply) => {
      error(reply).code = "access_denied";
    }),
    difference("403.insufficient_scope  $.error.code  R21", '"insufficient_scope"', '"access_denied"'),
  ],
  [
    "R11 lets an unknown key in",
    to(["unknown"], (reply) => {
      Object.assign(reply, { status: 200, body: { data: {} } });
    }),
    difference("401.unknown  status  R11", "401", "200"),
  ],
  [
    "R12 lets a revoked key in with 403",
    to(["revoked"], (reply) => {
      Object.assign(reply, { status: 403, body: { error: { code: "key_revoked", message: "Revoked." } } });
    }),
    difference("401.revoked  status  R12", "401", "403 key_revoked"),
  ],
  [
    "R34 repeats the key in its body",
    to(["expired"], (reply, { apiKey }) => {
      error(reply).message = `Expired: ${apiKey}`;
    }),
    difference("401.expired  body  R34", "no key", "the key that was sent"),
  ],
  [
    "R34 repeats the key in a header",
    to(["active"], (reply, { apiKey }) => {
      reply.headers["X-Key"] = String(apiKey);
    }),
    difference("200.test  X-Key  R34", "no key", "the key that was sent"),
  ],
];

test.each(wrongServers)("a server that is wrong about %s is told", async (_title, misbehave, says) => {
  const server = await serveProbed(misbehave);
  const argv = ["check", server.url, "--timeout", "250ms", "--max-requests", "12"];
  const { code, stdout, stderr } = await runCli(argv, { env: probeKeys });
  expect(stdout).toMatch(says);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
});

test("a server that is right is told nothing", async () => {
  const { url } = await serveProbed();
  const { code, stdout } = await runCli(["check", url], { env: probeKeys });
  expect(stdout).toMatch(/\nNothing differs from the contract: 8 of 17 paths agree, 9 were not tried\.\n$/);
  expect(stdout).not.toMatch(/^ .* differs /m);
  expect(code).toBe(0);
});

test("the request id of an answer that differs is named, to be quoted", async () => {
  const { url } = await serveProbed(
    to(["active"], (reply) => {
      data(reply).environment = "live";
    }),
  );
  const { stdout } = await runCli(["check", url], { env: probeKeys });
  expect(stdout).toMatch(/\$\.data\.environment {2}R3 {2}request req-4\n/);
});

test("R14 a trace id that is another one each time tells nothing", async () => {
  const { url } = await serveProbed((reply, { number }) => {
    reply.headers["X-Trace"] = `trace-${number}`;
    if (reply.status === 401) error(reply).details = { trace: number };
  });
  const { code, stdout } = await runCli(["check", url], { env: probeKeys });
  expect(stdout).toMatch(/^ {2}R14 +agrees/m);
  expect(code).toBe(0);
});

test("R14 beside a trace id, a message that tells is found", async () => {
  const { url } = await serveProbed((reply, { number, ref }) => {
    reply.headers["X-Trace"] = `trace-${number}`;
    if (ref === "expired") error(reply).message = "Expired.";
  });
  const { stdout } = await runCli(["check", url, "--max-requests", "12"], { env: probeKeys });
  expect(stdout).toMatch(/^ {2}401\.expired {2}\$\.error\.message {2}R14$/m);
  expect(stdout).not.toMatch(/X-Trace {2}R14/);
});
