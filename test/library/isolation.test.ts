import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { anyScenario, type Command, command } from "../model/commands.js";
import { carryOut, type Played, played, transcript } from "../model/transcript.js";
import { propertySeed } from "../support/property-seed.js";

/** Plays games next to each other, each command of one at a random place between those of the others. */
async function interleave(games: readonly Game[], order: readonly number[]): Promise<unknown[][]> {
  const seen: unknown[][] = games.map(() => []);
  const next = games.map(() => 0);
  for (const index of order) {
    const { game, steps } = games[index] as Game;
    const step = steps[(next[index] as number)++] as Command;
    (seen[index] as unknown[]).push(await carryOut(game, step));
  }
  return seen;
}

interface Game {
  readonly game: Played;
  readonly steps: readonly Command[];
}

test("twenty sandboxes side by side go each as it would alone", async () => {
  const twenty = { minLength: 20, maxLength: 20 };
  const steps = fc.array(fc.array(command, { maxLength: 10 }), twenty);
  // The turns of the games, shuffled.
  const turns = (of: readonly (readonly Command[])[]) =>
    fc.shuffledSubarray(
      of.flatMap((list, index) => list.map(() => index)),
      { minLength: of.flat().length },
    );
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyScenario, twenty),
      steps.chain((list) => fc.tuple(fc.constant(list), turns(list))),
      async (scenarios, [lists, order]) => {
        const games = scenarios.map((scenario, index) => ({
          game: played(createSandbox({ scenario })),
          steps: lists[index] as readonly Command[],
        }));
        const together = await interleave(games, order);
        for (const [index, scenario] of scenarios.entries()) {
          const alone = played(createSandbox({ scenario }));
          expect(together[index]).toEqual(await transcript(alone, lists[index] as readonly Command[]));
          expect(games[index]?.game.sandbox.requests.total()).toBe(alone.sandbox.requests.total());
        }
      },
    ),
    { numRuns: 100, ...propertySeed },
  );
});
