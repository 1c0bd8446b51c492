import { test } from "vitest";
import { difference, error, expectTold, to, type WrongServer } from "./support/wrong-servers.js";

const wrongRefusals: readonly WrongServer[] = [
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
];

test.each(wrongRefusals)("a server that is wrong about %s is told", expectTold);
