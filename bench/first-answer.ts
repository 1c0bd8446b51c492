import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { withStory } from "../src/scenario/stories.js";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { childEnvironment, commandFile, startCommand } from "./children.js";
import { type Figure, figureOf } from "./figure.js";
import { scenarioFile } from "./scenario.js";

/**
 * Compares the start of the command up to its first 200, and `exec -- true` up to its end, with the start and end of an
 * empty program.
 */
export async function measureFirstAnswer({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const { story: _, ...world } = withStory("key-states");
  const file = await scenarioFile(bundle, world);
  const starts = {
    "first response: a bundled scenario": () => timeToAnswer(node, "key-states"),
    "first response: a YAML file": () => timeToAnswer(node, file),
    "exec -- true": () => timeOf(() => runToEnd(node, [commandFile, "exec", "--", "true"])),
  };
  const rounds: number[][] = [];
  for (let run = 0; run <= (quick ? 5 : 21); run++) {
    const empty = await timeOf(() => runToEnd(node, ["-e", "0"]));
    const times: number[] = [];
    for (const start of Object.values(starts)) times.push(await start());
    // The first run fills the caches of the system and of the command.
    if (run > 0) rounds.push(times.map((time) => time / empty));
  }
  const targets = [2.6, 3.2, 3.4];
  return Object.keys(starts).map((name, index) =>
    figureOf(
      `${name} / node -e 0`,
      rounds.map((times) => times[index] as number),
      { atMost: targets[index] as number },
    ),
  );
}

/** Milliseconds that the work takes. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Runs a program of Node to its end. */
export async function runToEnd(node: string, argv: readonly string[]): Promise<void> {
  const [code] = await once(spawn(node, argv, { env: childEnvironment(), stdio: "ignore" }), "exit");
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}`);
}

/** Milliseconds from the start of the command to its first 200. */
export async function timeToAnswer(node: string, scenario: string): Promise<number> {
  const started = performance.now();
  const { port, keys, stop } = await startCommand(node, scenario);
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${keys[0]}\r\n\r\n`);
  const [response] = (await once(socket, "data")) as [Buffer];
  const time = performance.now() - started;
  socket.destroy();
  await stop();
  if (!response.toString("latin1").startsWith("HTTP/1.1 200 ")) throw new Error(`got ${response}`);
  return time;
}
