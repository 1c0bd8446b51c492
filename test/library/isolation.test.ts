import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { anyScenario, type Command, command } from "../model/commands.js";
import { carryOut, played, transcript } from "../model/transcript.js";
import { runs } from "../support/property-seed.js";

test("twenty sandboxes next to each other do not affect each other", async () => {
  const game = fc.record({ scenario: anyScenario, steps: fc.array(command, { maxLength: 10 }) });
  const twenty = fc.array(game, { minLength: 20, maxLength: 20 });
  // The turns of the games, shuffled.
  const turns = twenty.chain((games) => {
    const indexes = games.flatMap(({ steps }, index) => steps.map(() => index));
    return fc.tuple(fc.constant(games), fc.shuffledSubarray(indexes, { minLength: indexes.length }));
  });
  await fc.assert(
    fc.asyncProperty(turns, async ([games, order]) => {
      const running = games.map(({ scenario, steps }) => ({
        game: played(createSandbox({ scenario })),
        left: [...steps],
        seen: [] as unknown[],
      }));
      for (const index of order) {
        const { game, left, seen } = running[index] as (typeof running)[number];
        seen.push(await carryOut(game, left.shift() as Command));
      }
      for (const [index, { scenario, steps }] of games.entries()) {
        const alone = played(createSandbox({ scenario }));
        expect(running[index]?.seen).toEqual(await transcript(alone, steps));
        expect(running[index]?.game.sandbox.requests.total()).toBe(alone.sandbox.requests.total());
      }
    }),
    runs(10),
  );
});
