import { expect, test } from "vitest";
import { type KeyRecord, keyStateAt } from "./key.js";

const key: KeyRecord = {
  ref: "key",
  organization: "bank",
  name: "Key",
  environment: "test",
  legacy: false,
  scopes: ["attestations:read"],
  limits: { perMinute: 60, perDay: 1000 },
  sha256: "",
};

test.each<[string, Partial<KeyRecord>, [number, string][]]>([
  [
    "R41 revoked at once",
    { revokedAt: 100 },
    [
      [99, "active"],
      [100, "revoked"],
    ],
  ],
  [
    "R43 expired at the instant",
    { expiresAt: 100 },
    [
      [99, "active"],
      [100, "expired"],
    ],
  ],
  [
    "R38 rotated at the end of its overlap",
    { overlapEndsAt: 100 },
    [
      [99, "retiring"],
      [100, "rotated"],
    ],
  ],
  [
    "the first end counts: the overlap",
    { overlapEndsAt: 100, expiresAt: 200 },
    [
      [150, "rotated"],
      [250, "rotated"],
    ],
  ],
  [
    "the first end counts: the expiry",
    { overlapEndsAt: 200, expiresAt: 100 },
    [
      [99, "retiring"],
      [150, "expired"],
      [250, "expired"],
    ],
  ],
  ["revoked before it would have expired", { revokedAt: 50, expiresAt: 100 }, [[150, "revoked"]]],
])("%s", (_title, times, states) => {
  for (const [now, state] of states) expect(keyStateAt({ ...key, ...times }, now)).toBe(state);
});
