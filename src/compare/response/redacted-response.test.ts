import { expect, test } from "vitest";
import { createRedactKeys } from "./redact-keys.js";
import { readResponse } from "./redacted-response.js";

const secret = "SVC_test_aB3dE5fG7hJ9kL1m";
const redact = createRedactKeys([secret]);

function read(body: string, encoding: BufferEncoding = "utf8") {
  const raw = { status: 200, version: "1.1", reason: "", headers: [], body: Buffer.from(body, encoding) };
  return readResponse(raw, redact);
}

test.each<[body: string, encoding: BufferEncoding]>([
  [`the key ${secret}`, "utf8"],
  [`{"key": "${secret.replace("_", "\\u005f")}"}`, "utf8"],
  [`the key ${secret}, gel\u00f6scht`, "latin1"],
])("R34 a key in the body %j in %s is found, and removed", (body, encoding) => {
  const { hasKeyAt, text, textOfBytes, json } = read(body, encoding);
  expect(hasKeyAt).toEqual(["body"]);
  expect(textOfBytes + JSON.stringify(json)).not.toContain(secret);
  if (encoding === "latin1") expect(text).toBeUndefined();
});
