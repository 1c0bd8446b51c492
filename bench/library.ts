import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startLibrary } from "./children.js";
import { type Figure, figureOf } from "./figure.js";
import type { LibraryReading } from "./messages.js";

/** The sandbox in a test suite: without a socket, in the process of the test. */
export async function measureLibrary({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const program = startLibrary(bundle.library, node);
  const order = { calls: quick ? 2000 : 10_000, sandboxes: 1000 };
  const readings: LibraryReading[] = [];
  // The first two rounds warm up.
  for (let round = -2; round < (quick ? 3 : 11); round++) {
    const reading = await program.measure(order);
    if (round >= 0) readings.push(reading);
  }
  await program.stop();
  const ratios = (of: (reading: LibraryReading) => number) => readings.map(of);
  return [
    figureOf(
      "sandbox.fetch / msw getResponse, one trivial handler",
      ratios(({ fetch, trivialHandler }) => fetch / trivialHandler),
      { atMost: 1 },
    ),
    figureOf(
      "createSandbox() / structuredClone of its world",
      ratios(({ create, clone }) => create / clone),
      { atMost: 10 },
    ),
    figureOf(
      "reset() / structuredClone of its world",
      ratios(({ reset, clone }) => reset / clone),
      { atMost: 10 },
    ),
    figureOf(
      "memory of a sandbox / of a clone of its world",
      ratios(({ bytesOfSandbox, bytesOfClone }) => bytesOfSandbox / bytesOfClone),
      { atMost: 10 },
    ),
  ];
}
