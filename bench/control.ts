import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { stringify } from "yaml";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import type { ServerChild } from "./children.js";
import { startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import { alternate } from "./rounds.js";
import { benchScenario } from "./scenario.js";

/** The control plane, served but not asked for anything, and with subscribers to its events, against none at all. */
export async function measureControl({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const file = join(bundle.folder, "control.yaml");
  await writeFile(file, stringify(benchScenario(10)));
  const size = { rounds: quick ? 3 : 11, requests: quick ? 5000 : 30_000 };
  const ratios = async (subscribers: number) => {
    const ours = await startCommand(node, file);
    const theirs = await startCommand(node, file, ["--no-control"]);
    await Promise.all(Array.from({ length: subscribers }, () => subscribe(ours)));
    const rounds = await alternate(bundle, { ours, theirs }, size);
    return rounds.map((round) => round.ours.perSecond / round.theirs.perSecond);
  };
  return [
    figureOf("requests per second: control plane idle / --no-control", await ratios(0), { atLeast: 0.97 }),
    figureOf("requests per second: a subscriber to events / --no-control", await ratios(1), { atLeast: 0.9 }),
    figureOf("requests per second: 100 subscribers to events / --no-control", await ratios(100), {
      atLeast: 0.9,
    }),
  ];
}

/** Reads the events of a server until it stops; resolves once they come. */
async function subscribe({ port }: ServerChild): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /__sandbox/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  // A client library would take time from the server that is measured.
  socket.on("error", () => {});
  await once(socket, "data");
  socket.resume();
}
