import { expect, test } from "vitest";
import { probeKeys, serveProbed } from "./support/probed-server.js";
import { runCli } from "./support/run-cli.js";
import { difference, error, expectTold, to, type WrongServer } from "./support/wrong-servers.js";

const tellingServers: readonly WrongServer[] = [
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

test.each(tellingServers)("a server that is wrong about %s is told", expectTold);

test("R14 beside a trace id, a message that tells is found", async () => {
  const { url } = await serveProbed((reply, { number, ref }) => {
    reply.headers["X-Trace"] = `trace-${number}`;
    if (ref === "expired") error(reply).message = "Expired.";
  });
  const { stdout } = await runCli(["check", url, "--max-requests", "12"], { env: probeKeys });
  expect(stdout).toMatch(/^ {2}401\.expired {2}\$\.error\.message {2}R14$/m);
  expect(stdout).not.toMatch(/X-Trace {2}R14/);
});
