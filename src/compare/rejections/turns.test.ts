import { expect, test } from "vitest";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import type { Contrast } from "./contrasts.js";
import { allTurns, planTurn } from "./turns.js";

const contrastOf = (cause: PromisedOutcomeId, baseline: PromisedOutcomeId = "401.unknown"): Contrast => {
  const place = { kind: "header", name: "X-Reason" } as const;
  return { place, cause, baseline, textOfCause: "a", textOfBaseline: "b" };
};

const suspects: readonly PromisedOutcomeId[] = [
  "401.malformed",
  "401.missing",
  "401.revoked",
  "401.expired",
  "401.rotated",
];

test("R14 the turns reverse the suspects every other time, and each is one request longer", () => {
  const contrasts = [contrastOf("401.revoked"), contrastOf("401.expired")];
  const [usual, revoked, expired] = ["401.unknown", "401.revoked", "401.expired"];
  expect(allTurns.map((turn) => planTurn(turn, contrasts))).toEqual([
    [usual, usual, revoked, expired, usual],
    [usual, usual, usual, expired, revoked, usual],
    [usual, usual, usual, usual, revoked, expired, usual],
    [usual, usual, usual, usual, usual, expired, revoked, usual],
  ]);
  expect(allTurns.map((turn) => planTurn(turn, []))).toEqual([[], [], [], []]);
});

test("R14 of nodes in turn, no single one responds to each request of a suspect, and to none of its baseline", () => {
  for (let nodes = 2; nodes <= 12; nodes++) {
    for (let count = 1; count <= suspects.length; count++) {
      const contrasts = suspects.slice(0, count).map((cause) => contrastOf(cause));
      const sent = allTurns.flatMap((turn) => planTurn(turn, contrasts));
      const nodesOf = (wanted: PromisedOutcomeId) => {
        const found = new Set<number>();
        for (const [index, cause] of sent.entries()) if (cause === wanted) found.add(index % nodes);
        return found;
      };
      const ofBaseline = nodesOf("401.unknown");
      for (const suspect of suspects.slice(0, count)) {
        const [node = -1, ...others] = nodesOf(suspect);
        const isFooled = others.length === 0 && !ofBaseline.has(node);
        expect([nodes, count, suspect, isFooled]).toEqual([nodes, count, suspect, false]);
      }
    }
  }
});

test("R14 each baseline comes twice in a row, so that a balancer that alternates gives it both nodes", () => {
  const contrasts = [contrastOf("401.unknown", "401.malformed"), contrastOf("401.revoked")];
  expect(planTurn({ leadingBaselines: 0, order: "forward" }, contrasts)).toEqual([
    ...["401.malformed", "401.unknown", "401.malformed", "401.unknown"],
    ...["401.unknown", "401.revoked"],
    ...["401.malformed", "401.unknown"],
  ]);
});
