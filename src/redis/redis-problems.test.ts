import { expect, test } from "vitest";
import { isFullness, unusableStore } from "./redis-problems.js";

const coded = (code: string, message = "") => Object.assign(new Error(message), { code });

test.each([
  ["store_unavailable", "it closed the connection", new Error("Socket closed unexpectedly")],
  ["store_unusable", "it does not speak TLS", coded("EPROTO", "write EPROTO: wrong version number")],
  ["store_unavailable", "it does not respond", new Error("Connection timeout")],
  ["store_unusable", "it is full", new Error("OOM command not allowed")],
  [
    "store_unusable",
    "it does not know a command",
    new Error("ERR unknown command 'EVAL', with args beginning with: 'secret'"),
  ],
  ["store_unusable", "it does not respond like Redis", new Error("Unknown RESP type")],
  ["store_unavailable", 'it reports "LOADING Redis is loading"', new Error("LOADING Redis is loading. Wait")],
  ["store_unusable", 'it reports "WRONGPASS no"', new Error("WRONGPASS no.")],
  ["store_unavailable", "", coded("ECONNREFUSED")],
  ["store_unusable", "", coded("DEPTH_ZERO_SELF_SIGNED_CERT")],
])("%s: of a Redis, %j", (code, found, error) => {
  const rejection = unusableStore("redis://here", error);
  expect([rejection.code, rejection.message]).toEqual([
    code,
    expect.stringContaining(`redis://here: ${found}`),
  ]);
  expect(rejection.message).not.toContain("secret");
  expect([unusableStore("", rejection), isFullness(error)]).toEqual([rejection, found === "it is full"]);
});
