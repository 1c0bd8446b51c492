import { expect, test } from "vitest";
import { type KeyEnds, keyStateAt } from "./key-state.js";

test.each<[string, KeyEnds, Readonly<Record<number, string>>]>([
  ["R41 revoked at once and for good", { revokedAt: 100 }, { 99: "revoked", 100: "revoked" }],
  ["R43 expired at the instant", { expiresAt: 100 }, { 99: "active", 100: "expired" }],
  ["R38 rotated at the end of its overlap", { overlapEndsAt: 100 }, { 99: "retiring", 100: "rotated" }],
  ["the overlap ends first", { overlapEndsAt: 100, expiresAt: 200 }, { 150: "rotated", 250: "rotated" }],
])("%s", (_title, times, states) => {
  for (const [now, state] of Object.entries(states)) expect(keyStateAt(times, Number(now))).toBe(state);
});
