import fc from "fast-check";
import { expect, test } from "vitest";
import { randomStream } from "../src/domain/seed.js";
import { createSandbox, type Scenario } from "../src/index.js";
import { anyScenario, type Command, command } from "./model/commands.js";
import { carryOut, type Played, played, transcript } from "./model/transcript.js";
import { propertySeed } from "./support/property-seed.js";

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

/** The turns of as many games, in an order that hangs on a seed. */
function turns(lengths: readonly number[], seed: number): number[] {
  const draw = randomStream(seed, "test.turns");
  return lengths
    .flatMap((length, index) => Array.from({ length }, () => index))
    .map((index) => ({ index, place: draw() }))
    .sort((one, other) => one.place - other.place)
    .map(({ index }) => index);
}

async function expectEachAsAlone(
  scenarios: readonly Scenario[],
  steps: readonly (readonly Command[])[],
  order: number,
): Promise<void> {
  const games = scenarios.map((scenario, index) => ({
    game: played(createSandbox({ scenario })),
    steps: steps[index] as readonly Command[],
  }));
  const together = await interleave(
    games,
    turns(
      steps.map(({ length }) => length),
      order,
    ),
  );
  for (const [index, scenario] of scenarios.entries()) {
    const alone = played(createSandbox({ scenario }));
    expect(together[index]).toEqual(await transcript(alone, steps[index] as readonly Command[]));
    expect(games[index]?.game.sandbox.requests.total()).toBe(alone.sandbox.requests.total());
  }
}

test("twenty sandboxes side by side go each as it would alone", async () => {
  const twenty = { minLength: 20, maxLength: 20 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyScenario, twenty),
      fc.array(fc.array(command, { maxLength: 10 }), twenty),
      fc.nat(),
      expectEachAsAlone,
    ),
    { numRuns: 200, ...propertySeed },
  );
});

test("a thousand sandboxes side by side go each as it would alone", async () => {
  const [scenarios, steps] = fc.sample(
    fc.tuple(
      fc.array(anyScenario, { minLength: 1_000, maxLength: 1_000 }),
      fc.array(fc.array(command, { minLength: 3, maxLength: 8 }), { minLength: 1_000, maxLength: 1_000 }),
    ),
    { numRuns: 1, ...propertySeed },
  )[0] as [Scenario[], Command[][]];
  await expectEachAsAlone(scenarios, steps, propertySeed.seed);
});
