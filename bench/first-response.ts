import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { root } from "../scripts/run-program.js";
import { withStory } from "../src/scenario/stories.js";
import { type Figure, figureOf } from "./figure.js";
import { type Bundle, childEnvironment, commandFile, scenarioFile, startCommand } from "./programs.js";
import type { BenchArguments } from "./rounds.js";

/**
 * Compares the start of the command up to its first 200, and `exec -- true` up to its end, with the start and end of an
 * empty program. Also imports the library after an empty module, and the handlers after msw.
 */
export async function measureFirstResponse(
  { node, quick }: BenchArguments,
  bundle: Bundle,
): Promise<Figure[]> {
  const { story: _, ...sandbox } = withStory("key-states");
  const file = await scenarioFile(bundle, sandbox);
  // Without a request, `exec` ends with 4.
  const exec = () => timeOf(() => runToEnd(node, [commandFile, "exec", "--", "true"], 4));
  const nothing = "data:text/javascript,";
  const over = (time: () => Promise<number>) => async (empty: number) => (await time()) / empty;
  const figures = [
    ["first response: a bundled scenario / node -e 0", 2.6, over(() => timeToResponse(node, "key-states"))],
    ["first response: a YAML file / node -e 0", 3.2, over(() => timeToResponse(node, file))],
    ["exec -- true / node -e 0", 3.4, over(exec)],
    ["import of svc-sandbox: ms over an empty module", 25, () => timeOfImport(node, "svc-sandbox", nothing)],
    ["import of svc-sandbox/msw: ms over msw", 25, () => timeOfImport(node, "svc-sandbox/msw", "msw")],
  ] as const;
  const rounds: number[][] = figures.map(() => []);
  for (let run = 0; run <= (quick ? 5 : 21); run++) {
    const empty = await timeOf(() => runToEnd(node, ["-e", "0"]));
    for (const [index, [, , measure]] of figures.entries()) {
      const value = await measure(empty);
      // The first run fills the caches of the system and of the command.
      if (run > 0) rounds[index]?.push(value);
    }
  }
  return figures.map(([name, atMost], index) => figureOf(name, rounds[index] as number[], { atMost }));
}

function timeOfImport(node: string, name: string, before: string): number {
  const code = `await import("${before}");
const start = performance.now();
await import("${name}");
console.log(performance.now() - start);`;
  const argv = ["--input-type=module", "-e", code];
  return Number(execFileSync(node, argv, { cwd: root, encoding: "utf8", env: childEnvironment() }));
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export async function runToEnd(node: string, argv: readonly string[], expected = 0): Promise<void> {
  const [code] = await once(spawn(node, argv, { env: childEnvironment(), stdio: "ignore" }), "exit");
  if (code !== expected) throw new Error(`${argv.join(" ")} ended with ${code}`);
}

/** Milliseconds from the start of the command to its first 200. */
export async function timeToResponse(node: string, scenario: string, command = commandFile): Promise<number> {
  const started = performance.now();
  const { port, keys, stop } = await startCommand(node, scenario, [], command);
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${keys[0]}\r\n\r\n`);
  const [response] = (await once(socket, "data")) as [Buffer];
  const time = performance.now() - started;
  socket.destroy();
  await stop();
  if (!response.toString("latin1").startsWith("HTTP/1.1 200 ")) throw new Error(`got ${response}`);
  return time;
}
