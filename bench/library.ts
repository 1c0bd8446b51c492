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
  const figures = (of: (reading: LibraryReading) => number) => readings.map(of);
  return [
    figureOf(
      "sandbox.fetch / msw getResponse, one trivial handler",
      figures(({ fetch, trivialHandler }) => fetch / trivialHandler),
      { atMost: 0.5 },
    ),
    figureOf(
      "createSandbox(), µs",
      figures(({ create }) => create),
      { atMost: 50 },
    ),
    figureOf(
      "createSandbox() / structuredClone of its world",
      figures(({ create, clone }) => create / clone),
      { atMost: 3 },
    ),
    figureOf(
      "reset(), µs",
      figures(({ reset }) => reset),
      { atMost: 50 },
    ),
    figureOf(
      "reset() / structuredClone of its world",
      figures(({ reset, clone }) => reset / clone),
      { atMost: 3 },
    ),
    figureOf(
      "memory of a sandbox / of a clone of its world",
      figures(({ bytesOfSandbox, bytesOfClone }) => bytesOfSandbox / bytesOfClone),
      { atMost: 10 },
    ),
  ];
}
