import { type CommandEnd, type CommandOptions, runCommand } from "../../node/run-command.js";
import { parseApiKey, randomLength, sandboxMark } from "../../rules/api-key.js";
import { SandboxError } from "../../rules/errors.js";
import { findKeys } from "../../rules/redact.js";
import { quote } from "../../rules/schema/words.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { unknownSecret } from "../../scenario/population.js";
import { serve } from "../../server/serve.js";
import { createMemoryStore } from "../../store/memory-store.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type * as flag from "../flags.js";
import { warnOfPinned } from "../open-scenario.js";
import { directHosts, execEnvironment } from "./client-environment.js";
import { createLog, logEvents } from "./log.js";
import type { RunFolder } from "./run-folder.js";
import { type ServeFlags, serveOptions } from "./serve-options.js";

type ServedCall = Pick<CommandCall<Omit<ServeFlags, "verbose"> & flag.SandboxFlags>, "rest" | "flags" | "io">;

type ServedEnd = CommandEnd & { readonly notes: readonly string[] };

interface RunOptions extends Pick<CommandOptions, "takeSignals" | "isLate" | "onOutput"> {
  /** For the sandboxes in processes of the command. */
  readonly folder: RunFolder;
}

export async function runServed(
  { rest, flags, io }: ServedCall,
  sandbox: SandboxState,
  { folder, ...options }: RunOptions,
): Promise<ServedEnd> {
  const served = { port: 0, log: "off", ...flags } as const;
  const logger = await createLog(served, io);
  const own = createMemoryStore(sandbox, served);
  const read = () => folder.read(sandbox);
  // The control plane and the page show what other processes have added.
  const store: typeof own = {
    ...own,
    run(...call) {
      read();
      return own.run(...call);
    },
  };
  logEvents(store, served, logger);
  const server = await serve(store, await serveOptions(served, io, logger));
  warnOfPinned(runDue(sandbox), flags, logger);
  const { name, seed, profile } = runDue(sandbox);
  if (flags.verbose) logger.note(`Serving ${name} (seed ${seed}, profile ${profile}) on ${server.url}.`);
  const direct = directHosts(io.env, server.url);
  if (flags.verbose && direct.length > 0)
    logger.note(`A proxy is set: NO_PROXY of the command is ${direct.join(",")}.`);
  try {
    const { env, remove } = await execEnvironment(io.env, runDue(sandbox), server, folder.folder);
    // A missing command was rejected before.
    const command = rest as [string, ...string[]];
    const reading = setInterval(read, 100);
    const end = await runCommand(command, { cwd: io.cwd, env, ...options }).finally(remove);
    clearInterval(reading);
    read();
    folder.requireSound();
    return { ...end, notes: [...(server.proxy?.notes() ?? []), ...folder.notes()] };
  } finally {
    // Requests in progress are counted as well.
    await server.close();
    folder.remove();
  }
}

export function sayWhyNotRun(
  program: string,
  { code, message }: NodeJS.ErrnoException,
  { flags, io }: Pick<CommandCall<{ readonly format?: string; readonly json?: boolean }>, "flags" | "io">,
): number {
  const isMissing = code === "ENOENT";
  const why = isMissing
    ? "there is no such command, or no such program in its first line. The command runs without a shell: write each word as its own argument, env before NAME=value, and npx before a command from this project's packages"
    : code === "EACCES"
      ? "you may not execute it"
      : (code ?? message);
  const error = new SandboxError("command_unusable", `Failed to run ${quote(program)}: ${why}.`);
  const json = flags.json || ["json", "brief"].includes(flags.format ?? "");
  io.stderr[json ? "write" : "say"](describeFailure(error, { json }));
  return isMissing ? 127 : 126;
}

/** The characters after the prefix; fewer are a placeholder. */
const realLength = 16;
/** A line without an end is searched in parts, which overlap by more than the length of a percent-encoded key. */
const [partLength, overlap] = [64 * 1024, 1024];

export function createKeyFinder(sandbox: SandboxState) {
  const streams = { stdout: { line: 1, rest: "" }, stderr: { line: 1, rest: "" } };
  const places = new Set<string>();
  const isFullKey = (key: string) => {
    const { seed, platform, registry } = runDue(sandbox);
    const { prefix, marked } = parseApiKey(key) ?? {};
    if (prefix === undefined || key === unknownSecret(seed)) return false;
    const length = marked === true ? sandboxMark.length + randomLength : realLength;
    return key.length >= prefix.length + length || registry.find(platform.sha256(key)) !== undefined;
  };
  function search(name: keyof typeof streams, text: string): void {
    if (findKeys(text).some(isFullKey)) places.add(`${name}, line ${streams[name].line}`);
  }
  return {
    add(name: keyof typeof streams, chunk: Buffer): void {
      const stream = streams[name];
      const lines = (stream.rest + chunk.toString("latin1")).split("\n");
      stream.rest = lines.pop() as string;
      for (const line of lines) {
        search(name, line);
        stream.line += 1;
      }
      if (stream.rest.length < partLength) return;
      search(name, stream.rest);
      stream.rest = stream.rest.slice(-overlap);
    },
    places(): string[] {
      for (const name of ["stdout", "stderr"] as const) search(name, streams[name].rest);
      return [...places];
    },
  };
}
