import type { Instance } from "../../log/instances.js";
import { createMemoryLog } from "../../log/memory-log.js";
import { type CommandEnd, type CommandOptions, runCommand } from "../../node/process/run-command.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { serve } from "../../server/serve.js";
import { SandboxError } from "../../spec/errors.js";
import { quote } from "../../spec/schema/words.js";
import type { Call } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type { WorldFlags } from "../flags.js";
import { warnOfPinned } from "../open-scenario.js";
import { tell } from "../tell.js";
import { execEnvironment } from "./client-environment.js";
import { createLog, logEvents } from "./log.js";
import { type ServeFlags, serveOptions } from "./serve-options.js";

type ServedCall = Pick<Call<Omit<ServeFlags, "verbose"> & WorldFlags>, "rest" | "flags" | "io">;

/** The end of a command, and problems between it and the proxy of `--intercept`, as sentences. */
type ServedEnd = CommandEnd & { readonly notes: readonly string[] };

interface RunOptions extends Pick<CommandOptions, "takeSignals" | "apart" | "onOutput"> {
  /** Called with each new instance of the control plane. */
  readonly onInstance?: (instance: Instance) => void;
}

/** Serves a runtime (default: on a free port) while the command after `--` runs. */
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
    // A missing command was rejected before.
    const command = rest as [string, ...string[]];
    const end = await runCommand(command, { cwd: io.cwd, env, ...options }).finally(remove);
    return { ...end, notes: server.proxy?.notes() ?? [] };
  } finally {
    // Requests in progress are counted as well.
    await server.close();
  }
}

/** Reports why a command could not start; returns the exit code that shells use for this. */
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
  if (code === "EACCES") return say(126, "you may not execute it");
  if (code !== "ENOENT") return say(126, code ?? message);
  if (/[\\/]/.test(program)) {
    return say(127, "the file, or the program in its first line, does not exist");
  }
  return say(
    127,
    "there is no such command in PATH. The command runs without a shell: write each word as its own argument, env before NAME=value, and npx before a command from this project's packages",
  );
}
