import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import type { ServerChild } from "./children.js";
import { startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import { alternate } from "./rounds.js";
import { benchScenario } from "./scenario.js";

/** The control plane, served but not asked for anything, and with a subscriber to its events, against none at all. */
export async function measureControl({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const file = join(bundle.folder, "control.yaml");
  await writeFile(file, stringify(benchScenario(10)));
  const size = { rounds: quick ? 3 : 11, requests: quick ? 5000 : 30_000 };
  const ratios = async (prepare: (server: ServerChild) => Promise<() => void>) => {
    const ours = await startCommand(node, file);
    const theirs = await startCommand(node, file, ["--no-control"]);
    const done = await prepare(ours);
    const rounds = await alternate(bundle, { ours, theirs }, size);
    done();
    return rounds.map((round) => round.ours.perSecond / round.theirs.perSecond);
  };
  return [
    figureOf("requests per second: control plane idle / --no-control", await ratios(async () => () => {}), {
      atLeast: 0.97,
    }),
    figureOf("requests per second: a subscriber to events / --no-control", await ratios(subscribe)),
  ];
}

/** Reads the events of a server until it stops; answers how to stop that earlier. */
async function subscribe({ port }: ServerChild): Promise<() => void> {
  const leaving = new AbortController();
  const events = await fetch(`http://127.0.0.1:${port}/__sandbox/events`, { signal: leaving.signal });
  const reader = (events.body as ReadableStream<Uint8Array>).getReader();
  const read = async () => {
    while (!(await reader.read()).done);
  };
  // Ends when the server is stopped, or when we leave.
  read().catch(() => {});
  return () => leaving.abort();
}
