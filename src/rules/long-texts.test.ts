import { test } from "vitest";
import { expectLinear } from "../../test/support/expect-linear.js";
import { readApiRequest } from "../api/read-request.js";
import { findBase64Keys, findKeys } from "./keys/find-keys.js";
import { redact, redactPlainKeys } from "./keys/redact.js";

// Anybody can send a long text: a header, a value of a call, a file. What reads it looks at each character a few times only.

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  readApiRequest: (text) =>
    readApiRequest({ method: "GET", path: "/", query: text, headers: ["User-Agent", text] }),
  findKeys,
  findBase64Keys,
  redact,
  redactPlainKeys,
};
const pieces = ["SVC_test_", "SVC_test_.", "svc%5Flive_", "%25", "\\u00", "U1ZDX3Rlc3Rf", "...~", "svc"];
const cases = Object.keys(readers).flatMap((name) => pieces.map((piece) => [name, piece] as const));

test.each(cases)("R46 %s reads a long text of %j in linear time", async (name, piece) => {
  const read = readers[name] as (text: string) => unknown; // it is of the same table
  await expectLinear(piece, 20_000, read);
});
