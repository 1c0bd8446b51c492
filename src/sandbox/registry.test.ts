import fc from "fast-check";
import { expect, test } from "vitest";
import { propertySeed } from "../../test/support/property-seed.js";
import { createHashIndex } from "./registry.js";

test("finds what was put in, also after it has grown, and tells apart hashes that differ in one digit", () => {
  const digits = fc.constantFrom(..."0123456789abcdef");
  const alike = fc
    .tuple(
      fc.constantFrom("00000000", "ffffffff", "80000001"),
      fc.array(digits, { minLength: 56, maxLength: 56 }),
    )
    .map(([start, rest]) => start + rest.join(""));
  fc.assert(
    fc.property(fc.uniqueArray(alike, { minLength: 1, maxLength: 40 }), fc.nat(63), (hashes, changed) => {
      const index = createHashIndex(2);
      const isAt = (place: number, hash: string) => hashes[place] === hash;
      for (const hash of hashes) index.add(hash);
      expect(hashes.map((hash) => index.find(hash, isAt))).toEqual(hashes.map((_, place) => place));
      const [first] = hashes as [string];
      const other = `${first.slice(0, changed)}${first[changed] === "7" ? "8" : "7"}${first.slice(changed + 1)}`;
      expect(index.find(other, isAt)).toBe(hashes.includes(other) ? hashes.indexOf(other) : undefined);
    }),
    propertySeed,
  );
});
