import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** TypeScript's own compiler, which is native. Under its own name, rolldown-plugin-dts and the tests of editors have the last with an API. */
export const typescript = `${root}node_modules/typescript-native/bin/tsc`;

export interface ProgramEnd {
  /** `null` when it was stopped from outside, because its time was over for example. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, in order of arrival. */
  readonly output: string;
}

export interface ProgramSurroundings {
  readonly cwd?: string;
  /** Set over the present environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds after which it and its children are stopped. Default: 180000. */
  readonly timeout?: number;
  /** Gets each piece of output when it arrives. */
  readonly onOutput?: ((text: string) => void) | undefined;
  /** How often it is started again after it was stopped because of `timeout`. Default: 0. */
  readonly retries?: number;
}

/** Runs a program to its end. Rejects when it cannot be started. */
export function runProgram(
  program: string,
  argv: readonly string[],
  { cwd = root, env = {}, timeout = 180_000, onOutput, retries = 0 }: ProgramSurroundings = {},
): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, {
      cwd,
      env: { ...ownEnvironment(), ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let isStopped = false;
    const timer = setTimeout(() => {
      isStopped = true;
      output += `\n(stopped after ${timeout / 1000} s)\n`;
      process.kill(-(child.pid as number), "SIGKILL");
    }, timeout);
    const written = { stdout: "", stderr: "" };
    let output = "";
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text) => {
        written[name] += text;
        output += text;
        onOutput?.(text);
      });
    }
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (!isStopped || retries === 0) resolve({ code, ...written, output });
      else resolve(runProgram(program, argv, { cwd, env, timeout, onOutput, retries: retries - 1 }));
    });
  });
}

/** Runs a program to its end and resolves to its output. Throws unless it ends with 0. */
export async function mustRun(
  program: string,
  argv: readonly string[],
  context: ProgramSurroundings = {},
): Promise<string> {
  const { code, stdout, output } = await runProgram(program, argv, context);
  if (code !== 0) throw new Error(`${program} ${argv.join(" ")} failed:\n${output}`);
  return stdout.trim();
}

/**
 * The environment without variables that `npm run` and test runners set about themselves: both
 * would lead an npm, an npx or a runner in another folder astray. `npm run --silent` would also silence their errors.
 */
export function ownEnvironment(): Record<string, string | undefined> {
  const foreign =
    /^(?:npm_package_|npm_lifecycle_|npm_config_(?:local_prefix|loglevel)$|INIT_CWD$|NODE_OPTIONS$|NODE_TEST|VITEST|JEST_)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), NO_COLOR: "1" };
}

/** The first line of a program's output that matches. Rejects with what it wrote to stderr if it ends before. */
export async function firstLine(child: ChildProcess, pattern = /(?:)/): Promise<string> {
  let notes = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    notes += text;
  });
  const output = child.stdout as Readable;
  for await (const line of createInterface({ input: output })) {
    if (!pattern.test(line)) continue;
    output.resume();
    return line;
  }
  throw new Error(`${child.spawnargs.join(" ")} ended before it printed ${pattern}:\n${notes}`);
}
