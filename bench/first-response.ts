import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { root } from "../scripts/run-program.js";
import { withStory } from "../src/scenario/stories.js";
import { type Figure, figureOf } from "./figure.js";
import type { Bundle, ServerChild } from "./programs.js";
import { childEnvironment, scenarioFile, startCommand, startServer } from "./programs.js";
import type { BenchArguments } from "./rounds.js";

/** A start, measured in a folder that has this version, or an earlier one, among its packages; in milliseconds. */
interface Start {
  readonly name: string;
  /** The target of its ratio to `node -e 0`. Default: none. */
  readonly atMost?: number;
  /** What no version changes is not compared with an earlier one. */
  readonly isFloor?: true;
  readonly measure: (project: string) => Promise<number> | number;
}

/**
 * Compares starts of the command up to their first 200 or their end, and imports, with an empty program, and in turns with an earlier version.
 */
export async function* measureFirstResponse(
  { quick, against }: BenchArguments,
  bundle: Bundle,
): AsyncGenerator<Figure> {
  const starts = await startsOf(bundle);
  const ours = await projectWith(root, join(bundle.folder, "ours"));
  const theirs = against && (await projectWith(against, join(bundle.folder, "theirs")));
  const toEmpty: number[][] = starts.map(() => []);
  const toEarlier: number[][] = starts.map(() => []);
  for (let round = 0; round <= (quick ? 5 : 21); round++) {
    const empty = await timeOf(() => runToEnd(["-e", "0"]));
    for (const [index, start] of starts.entries()) {
      const { time, earlier } = await inTurns(start, ours, round % 2 === 0, theirs);
      // The first round fills the caches of the system and of the command.
      if (round === 0) continue;
      toEmpty[index]?.push(time / empty);
      if (earlier !== undefined) toEarlier[index]?.push(time / earlier);
    }
  }
  for (const [index, { name, atMost }] of starts.entries()) {
    const target = atMost === undefined ? undefined : { atMost };
    yield figureOf(`${name} / node -e 0`, toEmpty[index] as number[], target);
  }
  for (const [index, { name }] of starts.entries()) {
    const ratios = toEarlier[index] as number[];
    if (ratios.length > 0) yield figureOf(`${name}: this / ${against}`, ratios);
  }
}

async function inTurns(
  { measure, isFloor }: Start,
  ours: string,
  isEarlierFirst: boolean,
  theirs?: string,
): Promise<{ time: number; earlier?: number }> {
  if (theirs === undefined || isFloor) return { time: await measure(ours) };
  if (!isEarlierFirst) return { time: await measure(ours), earlier: await measure(theirs) };
  const earlier = await measure(theirs);
  return { time: await measure(ours), earlier };
}

async function startsOf(bundle: Bundle): Promise<Start[]> {
  const { story: _, ...sandbox } = withStory("key-states");
  const file = await scenarioFile(bundle, sandbox);
  const startOf = (scenario: string) => (project: string) =>
    timeToResponse(() => startCommand(scenario, [], commandIn(project)));
  const nothing = "data:text/javascript,";
  const importOf = (name: string, before: string) => (project: string) =>
    timeIn(
      ["--input-type=module", "-e", timed(`await import("${name}")`, `await import("${before}");`)],
      project,
    );
  return [
    { name: "start", atMost: 2.3, measure: startOf("key-states") },
    { name: "start my.yaml", atMost: 2.8, measure: startOf(file) },
    {
      name: "a bare node:http server",
      isFloor: true,
      measure: () => timeToResponse(() => startServer(bundle.server, { headers: [], body: "{}" })),
    },
    {
      name: "exec -- true",
      // Without a request, `exec` ends with 4.
      measure: (project) => timeOf(() => runToEnd([commandIn(project), "exec", "--", "true"], 4)),
    },
    { name: 'import "svc-sandbox"', measure: importOf("svc-sandbox", nothing) },
    { name: 'import "svc-sandbox/msw", beyond msw', measure: importOf("svc-sandbox/msw", "msw") },
    {
      name: 'require("svc-sandbox")',
      measure: (project) => timeIn(["-e", timed('require("svc-sandbox")')], project),
    },
  ];
}

const node = process.execPath;

const timed = (work: string, before = "") =>
  `${before} const start = performance.now(); ${work}; console.log(performance.now() - start);`;

function timeIn(argv: readonly string[], cwd: string): number {
  return Number(execFileSync(node, argv, { cwd, encoding: "utf8", env: childEnvironment() }));
}

const commandIn = (project: string) => join(project, "node_modules/svc-sandbox/bin/svc-sandbox.js");

/** Creates the project of a user who has this built copy of svc-sandbox, and msw, among its packages. */
async function projectWith(copy: string, project: string): Promise<string> {
  await mkdir(join(project, "node_modules"), { recursive: true });
  await symlink(copy, join(project, "node_modules/svc-sandbox"));
  await symlink(join(copy, "node_modules/msw"), join(project, "node_modules/msw"));
  return project;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function runToEnd(argv: readonly string[], expected = 0): Promise<void> {
  const [code] = await once(spawn(node, argv, { env: childEnvironment(), stdio: "ignore" }), "exit");
  if (code !== expected) throw new Error(`${argv.join(" ")} ended with ${code}`);
}

/** Milliseconds from the start of a server to its first 200. */
async function timeToResponse(start: () => Promise<ServerChild>): Promise<number> {
  const started = performance.now();
  const { port, keys, stop } = await start();
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${keys[0]}\r\n\r\n`);
  const [response] = (await once(socket, "data")) as [Buffer];
  const time = performance.now() - started;
  socket.destroy();
  await stop();
  if (!response.toString("latin1").startsWith("HTTP/1.1 200 ")) throw new Error(`got ${response}`);
  return time;
}
