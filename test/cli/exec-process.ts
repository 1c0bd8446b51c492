import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const bin = join(import.meta.dirname, "../../bin/svc-sandbox.js");

/** How to run `exec`. */
export interface ExecOptions {
  /** Default: a folder with `client.mjs` alone. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Buffer;
}

/** How an `exec` ended. */
export interface ExecEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** An `exec` that runs, in a process of its own. */
export interface ExecProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<ExecEnd>;
  /** Resolves once the command has written this to stdout. */
  readonly says: (words: string) => Promise<void>;
}

/**
 * Sends a request for each of its words: with the key of a ref, without one (`none`), with the key in the query
 * (`?ref`), or to a path of the control plane (`POST:/reset`). Ends with the code that the word `exit:3` says.
 */
export const clientCode = `
const { SVC_BASE_URL, SVC_CONTROL_URL } = process.env;
const keyOf = (ref) => process.env["SVC_KEY_" + ref.toUpperCase().replaceAll("-", "_")];
const me = SVC_BASE_URL + "/v1/relying-party/me";
for (const word of process.argv.slice(2)) {
  const control = /^([A-Z]+):(.*)$/.exec(word);
  if (control) await fetch(SVC_CONTROL_URL + control[2], { method: control[1] });
  else if (word.startsWith("exit:")) process.exitCode = Number(word.slice(5));
  else if (word.startsWith("?")) await fetch(me + "?key=" + keyOf(word.slice(1)));
  else await fetch(me, { headers: word === "none" ? {} : { "x-api-key": keyOf(word) } });
}
`;

/** A folder with the client that the tests of `exec` run, and these files. */
export function clientFolder(files: Readonly<Record<string, string>> = {}): string {
  return temporaryFolder({ "client.mjs": clientCode, ...files });
}

/** The command line of the client. */
export function client(...words: string[]): string[] {
  return [process.execPath, "client.mjs", ...words];
}

/** Starts the built `svc-sandbox`, as its users do. */
export function startBin(argv: readonly string[], options: ExecOptions = {}): ExecProcess {
  const { cwd = clientFolder(), env = {}, input } = options;
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const stdout: Buffer[] = [];
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  // A command that does not read closes its end.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const ended = once(child, "close").then(([code, signal]) => ({
    code,
    signal,
    stdout: Buffer.concat(stdout),
    stderr,
  }));
  const says = (words: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => void (Buffer.concat(stdout).includes(words) && resolve());
      child.stdout.on("data", look);
      ended.then((end) => reject(new Error(`It ended before it said ${words}: ${JSON.stringify(end)}`)));
      look();
    });
  return { child, ended, says };
}

/** Starts the built `svc-sandbox exec`. */
export function startExec(argv: readonly string[], options?: ExecOptions): ExecProcess {
  return startBin(["exec", ...argv], options);
}

/** Runs the built `svc-sandbox exec` to its end. */
export function runExec(argv: readonly string[], options: ExecOptions = {}): Promise<ExecEnd> {
  return startExec(argv, options).ended;
}
