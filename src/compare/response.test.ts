import { afterEach, expect, test, vi } from "vitest";
import { createRedactKeys, describeValue, readHttpDate, readResponse, shownText } from "./response.js";

const secret = "SVC_test_aB3dE5fG7hJ9kL1m";
const redactKeys = createRedactKeys([secret, "legacysvc_live_tiny"]);

test.each([
  [`the key ${secret}.`, "the key SVC_test_…."],
  ["the key aB3dE5fG7hJ9kL1m", "the key …"],
  [encodeURIComponent(encodeURIComponent(secret)), "SVC_test_…"],
  ["SVC_live_someOtherKey0", "SVC_live_…"],
  ["svc_TEST_ab3de5fg", "svc_TEST_…"],
  ["legacysvc_live_tiny", "legacysvc_live_…"],
  ["a tiny text", "a tiny text"],
])("R46 %j becomes %j", (text, shown) => {
  expect(redactKeys.text(text)).toBe(shown);
});

const longRest = "k7Qw9ZrT2mNx4VbLc8Hs1YpGd6Jf3A";
const longKey = `SVC_test_${longRest}`;
test.each([
  Buffer.from(longKey).toString("base64"),
  Buffer.from(longRest).toString("base64url"),
  Buffer.from(longKey).toString("hex").toUpperCase(),
  longKey.toUpperCase(),
  longRest.toLowerCase(),
  longRest.slice(0, 24),
  longRest.slice(-24),
  longRest.slice(3, 28),
])("R34 %s of a key is one, wherever it is, and removed", (form) => {
  const redactLongKey = createRedactKeys([longKey]);
  const text = `{"İ": "x-${form}-x"}`;
  expect(redactLongKey.containsKey(text)).toBe(true);
  const shown = redactLongKey.text(text);
  expect(redactLongKey.containsKey(shown)).toBe(false);
  expect(shown.toLowerCase()).not.toContain(form.slice(1, 20).toLowerCase());
  expect(redactLongKey.containsKey(longRest.slice(0, 23))).toBe(false);
});

function read(body: string, encoding: BufferEncoding = "utf8") {
  const raw = { status: 200, version: "1.1", reason: "", headers: [], body: Buffer.from(body, encoding) };
  return readResponse(raw, createRedactKeys([secret]));
}

test.each<[body: string, encoding: BufferEncoding]>([
  [`the key ${secret}`, "utf8"],
  [`{"key": "${secret.replaceAll(/[0-9]/g, (digit) => `\\u003${digit}`)}"}`, "utf8"],
  [`the key ${secret}, gel\u00f6scht`, "latin1"],
])("R34 a key in the body %j in %s is found, and removed", (body, encoding) => {
  const { hasKeyAt, text, body: compared, json } = read(body, encoding);
  expect(hasKeyAt).toEqual(["body"]);
  expect(compared + JSON.stringify(json)).not.toContain(secret);
  if (encoding === "latin1") expect(text).toBeUndefined();
});

afterEach(() => vi.unstubAllEnvs());

test.each(["UTC", "America/New_York", "Asia/Tokyo"])(
  "RFC 9110 a date without a zone is in GMT, also in the time zone %s",
  (zone) => {
    vi.stubEnv("TZ", zone);
    const time = Date.UTC(2026, 2, 2, 9, 0, 30);
    expect(readHttpDate("Mon, 02 Mar 2026 09:00:30 GMT")).toBe(time);
    expect(readHttpDate("Monday, 02-Mar-26 09:00:30 GMT")).toBe(time);
    expect(readHttpDate("Mon Mar  2 09:00:30 2026")).toBe(time);
  },
);

test("a server's texts are cut after 80 characters", () => {
  const max = "x".repeat(80);
  expect([shownText(max), shownText(`${max}x`)]).toEqual([max, `${max}…`]);
});

test("a server's text is cut before an emoji that would be cut in two", () => {
  const start = "x".repeat(79);
  expect(shownText(`${start}🚀 and more`)).toBe(`${start}…`);
});

test.each([
  [undefined, "nothing"],
  [null, "null"],
  ["60", 'the string "60"'],
  [[], "an empty list"],
  [[1], "a list"],
  [{}, "a mapping"],
  [60, "the number 60"],
  [{ toString: 1 }, "a mapping"],
  [[{ toString: 1 }], "a list"],
])("the value %j is described as %s", (value, described) => expect(describeValue(value)).toBe(described));
