import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { stringify } from "yaml";
import { withStory } from "../src/scenario/stories.js";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { childEnvironment } from "./children.js";
import { commandFile, startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";

/** From the start of the command to its first 200, or to the end of `exec -- true`, against the start and end of an empty program. */
export async function measureFirstAnswer({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const { story, ...world } = withStory("key-states");
  const file = join(bundle.folder, "own.yaml");
  await writeFile(file, stringify(world));
  const told = join(bundle.folder, "told.yaml");
  await writeFile(told, stringify({ ...world, story }));
  const runs = quick ? 5 : 21;
  const bundled: number[] = [];
  const own: number[] = [];
  const storied: number[] = [];
  const executed: number[] = [];
  // The first run of each fills the caches of the system and of the command, and is left out.
  for (let run = 0; run <= runs; run++) {
    const empty = await timeOf(() => runToEnd(node, ["-e", "0"]));
    const ratios = [
      (await timeToAnswer(node, "key-states")) / empty,
      (await timeToAnswer(node, file)) / empty,
      (await timeToAnswer(node, told)) / empty,
      (await timeOf(() => runToEnd(node, [commandFile, "exec", "--", "true"]))) / empty,
    ] as const;
    if (run === 0) continue;
    bundled.push(ratios[0]);
    own.push(ratios[1]);
    storied.push(ratios[2]);
    executed.push(ratios[3]);
  }
  return [
    figureOf("first answer: a bundled scenario / node -e 0", bundled, { atMost: 2.2 }),
    figureOf("first answer: a YAML file / node -e 0", own, { atMost: 3 }),
    figureOf("first answer: a YAML file with a story of 30 steps / node -e 0", storied),
    figureOf("exec -- true / node -e 0", executed, { atMost: 3 }),
  ];
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
  await answered(port, keys[0] as string);
  const time = performance.now() - started;
  await stop();
  return time;
}

async function answered(port: number, key: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${key}\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  if (!answer.toString("latin1").startsWith("HTTP/1.1 200 "))
    throw new Error(`expected a 200 and got ${answer}`);
}
