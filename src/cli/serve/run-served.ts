import { SandboxError } from "../../domain/errors.js";
import type { Instance } from "../../log/instances.js";
import { createMemoryLog } from "../../log/memory-log.js";
import { type CommandEnd, type CommandOptions, runCommand } from "../../node/process/run-command.js";
import { quote } from "../../schema/words.js";
import { serve } from "../../serve/serve.js";
import type { Runtime } from "../../world/runtime.js";
import type { Call } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type { WorldFlags } from "../flags.js";
import { warnOfPinned } from "../open-scenario.js";
import { tell } from "../tell.js";
import { execEnvironment } from "./client-environment.js";
import { createLog, logEvents } from "./log.js";
import { type ServeFlags, serveOptions } from "./serve-options.js";

type ServedCall = Pick<Call<Omit<ServeFlags, "verbose"> & WorldFlags>, "rest" | "flags" | "io">;

/** The end of a command, and what went wrong between it and the proxy of `--intercept`, in sentences. */
type ServedEnd = CommandEnd & { readonly notes: readonly string[] };

interface RunOptions extends Pick<CommandOptions, "takeSignals" | "apart" | "onOutput"> {
  /** Called with each new instance of the control plane. */
  readonly onInstance?: (instance: Instance) => void;
}

/** Runs the command behind `--` while a runtime is served, by default on any free port, and stops the server after it. */
export async function runServed(
  { rest, flags, io }: ServedCall,
  runtime: Runtime,
  { onInstance, ...options }: RunOptions,
): Promise<ServedEnd> {
  const served = { port: 0, log: "off", ...flags } as const;
  const logger = await createLog(served, io);
  const log = createMemoryLog(runtime, served);
  logEvents(log, served, logger);
  if (onInstance !== undefined) log.instances.follow(onInstance);
  const server = await serve(log, await serveOptions(served, io, logger));
  warnOfPinned(runtime.world(), flags, logger);
  const { name, seed, profile } = runtime.world();
  if (flags.verbose) logger.note(`Serving ${name} (seed ${seed}, profile ${profile}) on ${server.url}.`);
  try {
    const { env, remove } = await execEnvironment(io.env, runtime.world(), server);
    // A command line without a command has been refused.
    const command = rest as [string, ...string[]];
    const end = await runCommand(command, { cwd: io.cwd, env, ...options }).finally(remove);
    return { ...end, notes: server.proxy?.notes() ?? [] };
  } finally {
    // Requests that are still under way are counted, too.
    await server.close();
  }
}

/** Says why a command could not be started; returns the exit code that shells give then. */
export function sayWhyNotRun(
  program: string,
  { code, message }: NodeJS.ErrnoException,
  { flags, io }: Pick<Call<{ readonly format?: string; readonly json?: boolean }>, "flags" | "io">,
): number {
  const { json = ["json", "brief"].includes(flags.format ?? "") } = flags;
  const say = (exitCode: number, why: string) => {
    const error = new SandboxError("command_unusable", `Failed to run ${quote(program)}: ${why}.`);
    tell(io.stderr, describeFailure(error, { json }));
    return exitCode;
  };
  if (code === "EACCES") return say(126, "it is not a program that you may execute");
  if (code !== "ENOENT") return say(126, code ?? message);
  if (/[\\/]/.test(program)) {
    return say(127, "there is no such file, or no such program as its first line names");
  }
  return say(
    127,
    "there is no such command in PATH. No shell reads the line: write its words one by one, env before variables, and npx before a command of this project's packages",
  );
}
