import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWellFormedKey, parseApiKey } from "../rules/keys/key-text.js";
import { randomStream } from "../rules/seed.js";
import { createUnknownKeys } from "./keys.js";

const kindOf = (character: string) =>
  character.replace(/\d/, "0").replace(/[a-z]/, "a").replace(/[A-Z]/, "A");
const formOf = (key: string) => [...key].map(kindOf).join("");

describe("unknown keys", () => {
  test("have the prefix, the length and the kinds of characters of the given key, and none of its own", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w-]{1,60}$/), fc.nat(), (rest, seed) => {
        const given = `SVC_live_x${rest}`;
        const key = createUnknownKeys({ SVC_API_KEY: given }, randomStream(seed, "unknown keys"))();
        expect([key.slice(0, 9), formOf(key), isWellFormedKey(key)]).toEqual([
          "SVC_live_",
          formOf(given),
          true,
        ]);
        for (let index = 9; index < given.length; index++) {
          if (/[A-Za-z0-9]/.test(given.charAt(index))) {
            expect(key.charAt(index)).not.toBe(given.charAt(index));
          }
        }
      }),
    );
  });

  test.each([
    ["SVC_test_0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b", /^SVC_test_[0-9a-f]{40}$/],
    ["SVC_test_0A1B2C3D4E5F0A1B2C3D4E5F0A1B2C3D4E5F0A1B", /^SVC_test_[0-9A-F]{40}$/],
    [
      "legacysvc_live_9b2f6a10-3c1d-4e8b-9a55-7d6c5b4a3f21",
      /^legacysvc_live_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-/,
    ],
  ])("of %s have its form", (given, form) => {
    const create = createUnknownKeys({ SVC_API_KEY: given }, randomStream(1, "unknown keys"));
    const keys = new Set(Array.from({ length: 24 }, create));
    expect(keys.size).toBe(24);
    for (const key of keys) expect(key).toMatch(form);
  });

  test("R46 leave no part of a key in the last input of a regular expression", () => {
    createUnknownKeys({ SVC_API_KEY: "SVC_live_0123456789" }, randomStream(1, "unknown keys"));
    expect(RegExp.input).not.toContain("0123456789");
  });

  test("of a sandbox's key have its mark", () => {
    const key = createUnknownKeys(
      { SVC_API_KEY: "SVC_test_sbx0123456789" },
      randomStream(1, "unknown keys"),
    )();
    expect(parseApiKey(key)?.hasMark).toBe(true);
  });
});
