import { expect, test } from "vitest";
import { probeKeys, serveProbed } from "./support/probed-server.js";
import { runCli } from "./support/run-cli.js";
import { data, difference, expectTold, to, type WrongServer } from "./support/wrong-servers.js";

const wrongContexts: readonly WrongServer[] = [
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
];

test.each(wrongContexts)("a server that is wrong about %s is told", expectTold);

test("the request id of an answer that differs is named, to be quoted", async () => {
  const { url } = await serveProbed(
    to(["active"], (reply) => {
      data(reply).environment = "live";
    }),
  );
  const { stdout } = await runCli(["check", url], { env: probeKeys });
  expect(stdout).toMatch(/\$\.data\.environment {2}R3 {2}request req-4\n/);
});
