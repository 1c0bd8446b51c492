import { expect, test } from "vitest";
import { changeSince, foundingOf, requireSame, settingsOf } from "./founding.js";

const identity = { name: "own", sha256: "0123456789abcdef" };
const stored = { code: "store_mismatch", what: "The sandbox", elsewhere: "name another" } as const;
const ours = foundingOf(identity, { "--seed": 1, "--now": undefined });

test.each([
  ["the name", foundingOf({ ...identity, name: "moved" }, { "--seed": 1 }), ""],
  ["the content", foundingOf({ ...identity, sha256: "other" }, { "--seed": 1 }), "content of the scenario"],
  ["the seed", foundingOf(identity, { "--seed": 2 }), "--seed 2"],
  ["a missing seed", foundingOf(identity), "--seed (none)"],
  ["a frozen clock", foundingOf(identity, { "--seed": 1, "--frozen": true }), "--frozen true"],
])("a sandbox that was started with another value of %s is another one: %#", (_title, theirs, shown) => {
  const continued = () => requireSame(stored, JSON.parse(JSON.stringify(theirs)), ours);
  if (shown === "") expect(continued).not.toThrow();
  else expect(continued).toThrow(`The sandbox was started with ${shown}`);
});

test("the version and the settings of a server may change, and the change is a sentence", () => {
  const now = settingsOf({ "--instance-ttl": "1h" });
  expect(changeSince(now, { ...now })).toBeUndefined();
  expect(changeSince({ ...now, version: "0.0.9", "--instance-ttl": "30d" }, now)).toBe(
    `It had version "0.0.9" and --instance-ttl "30d", and continues with version "${now.version}" and --instance-ttl "1h".`,
  );
});
