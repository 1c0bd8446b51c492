import * as fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/support/property-seed.js";
import { asked } from "../../test/support/send.js";
import { nodePlatform } from "../node/platform.js";
import { isSandboxKey, keyPrefixes, parseApiKey } from "../spec/api-key.js";
import { containsKey, findKeys, redactEncoded, redactPath } from "../spec/redact.js";
import { isMeantAsKey } from "../spec/request-traits.js";
import { presentedAs } from "./call.js";
import { hashOf, maskRequest } from "./mask.js";

const { sha256 } = nodePlatform;
const piece = fc.constantFrom(
  ...keyPrefixes.map(({ prefix }) => prefix),
  "sbx",
  "abc",
  "Z9-_",
  "x".repeat(29),
  "x".repeat(300),
);
const other = fc.constantFrom(
  " ",
  ", ",
  '"',
  "${",
  "$",
  "%",
  "%5f",
  "%53VC_test_",
  btoa("SVC_live_abcdef"),
  "\\u0053VC_test_",
  "Bearer ",
  "/",
  ".",
  "é",
  "}",
  "?",
);
const text = fc
  .array(fc.oneof({ weight: 3, arbitrary: piece }, other), { maxLength: 8 })
  .map((parts) => parts.join(""));

/** What the API asks of a key, or of a text that is none. */
function factsOf(apiKey: string) {
  const presented = presentedAs(apiKey);
  if (presented === "well_formed") return { presented, ...formOf(apiKey) };
  const keys = findKeys(apiKey);
  return { presented, isMeant: isMeantAsKey(apiKey, keys), keys: keys.map(formOf) };
}

function formOf(key: string) {
  const { prefix, marked } = parseApiKey(key) ?? {};
  return { prefix, marked, isSandboxKey: isSandboxKey(key) };
}

test("a mask has the form of what it stands for, and its hash is known", () => {
  fc.assert(
    fc.property(text, (apiKey) => {
      const masked = maskRequest(asked({ apiKey }), sha256);
      const shown = masked.apiKey as string;
      expect(factsOf(shown)).toEqual(factsOf(apiKey));
      expect(hashOf(shown, masked.hashes)).toBe(sha256(apiKey));
      const found = findKeys(apiKey);
      if (presentedAs(apiKey) === "malformed") {
        expect(findKeys(shown).map((mask) => hashOf(mask, masked.hashes))).toEqual(
          found.map((key) => sha256(key)),
        );
      }
      for (const key of found) if (key.length > 40) expect(JSON.stringify(masked)).not.toContain(key);
    }),
    runs(300),
  );
});

test("a masked path is shown as the path itself, with its keys beside it", () => {
  fc.assert(
    fc.property(text, (end) => {
      const path = `/v1/${end}`;
      const masked = maskRequest(asked({ path }), sha256);
      expect(redactPath(masked.path)).toBe(redactPath(path));
      expect((masked.keysInPath ?? []).map((mask) => hashOf(mask, masked.hashes))).toEqual(
        findKeys(path).map((key) => sha256(key)),
      );
      expect(findKeys(masked.path)).toEqual([]);
    }),
    runs(300),
  );
});

test("keys in the query and in headers are masked, and cut short in the page that sent them", () => {
  const key = "SVC_live_9f8e7d6c5b4a";
  const evidence = { inQuery: [key], inHeaders: [key], page: `https://any.example/${key}` };
  const masked = maskRequest(asked({ evidence }), sha256);
  const { inQuery = [], inHeaders = [], page } = masked.evidence ?? {};
  const hashes = [...inQuery, ...inHeaders].map((mask) => hashOf(mask, masked.hashes));
  expect([...hashes, page]).toEqual([sha256(key), sha256(key), "https://any.example/SVC_live_…"]);
});

test("a masked body has a key, cut short, exactly if the body that was sent has one", () => {
  const base = { query: "", contentType: undefined, idempotencyKey: undefined, headers: [] };
  fc.assert(
    fc.property(text, (purpose) => {
      const content = { ...base, body: { text: JSON.stringify({ purpose }) } };
      const masked = maskRequest(asked({ content }), sha256);
      const shown = JSON.parse(masked.content?.body.text as string).purpose;
      expect(containsKey(shown)).toBe(containsKey(purpose));
      expect(redactEncoded(shown)).toBe(redactEncoded(purpose));
    }),
    runs(300),
  );
});
