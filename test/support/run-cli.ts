import { cli } from "../../src/cli/cli.js";
import type { Output } from "../../src/cli/io.js";

/** How a test runs the command line. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether stdout and stderr pretend to be a terminal. */
  readonly terminal?: boolean;
}

/** What a finished run left behind. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An output that remembers, and that can be waited for. */
export interface Written extends Output {
  readonly text: () => string;
  /** Resolves with the match once the text matches. */
  readonly shows: (pattern: RegExp) => Promise<RegExpExecArray>;
}

/** A run that goes on until it is stopped. */
export interface Running {
  readonly stdout: Written;
  readonly stderr: Written;
  /** Asks it to stop, as SIGINT does, and resolves to what it left behind. */
  readonly stop: () => Promise<Ran>;
  readonly done: Promise<Ran>;
}

/** Runs a command line in this process to its end. */
export function runCli(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return startCli(argv, options).done;
}

/** Runs a command line in this process; does not wait for its end. */
export function startCli(argv: readonly string[], options: RunOptions = {}): Running {
  const stopping = new AbortController();
  const stdout = createWritten(options.terminal);
  const stderr = createWritten(options.terminal);
  const { env = {}, cwd = process.cwd() } = options;
  const done = cli(argv, { stdout, stderr, env, cwd, stopSignal: () => stopping.signal }).then((code) => ({
    code,
    stdout: stdout.text(),
    stderr: stderr.text(),
  }));
  return {
    stdout,
    stderr,
    done,
    stop() {
      stopping.abort();
      return done;
    },
  };
}

/** The base URL that a started server printed, in either form. */
export async function baseUrl({ stdout, done, stderr }: Running): Promise<string> {
  const gone = done.then(({ code }) => {
    throw new Error(`svc-sandbox ended with ${code} before it listened:\n${stderr.text()}`);
  });
  const match = await Promise.race([stdout.shows(/(http:\/\/[\w.:[\]]+)[\s\S]*\n/), gone]);
  return match[1] as string;
}

function createWritten(terminal = false): Written {
  let written = "";
  const waiting = new Set<() => void>();
  return {
    isTTY: terminal,
    write(text) {
      written += text;
      for (const look of waiting) look();
    },
    text: () => written,
    shows: (pattern) =>
      new Promise((resolve) => {
        const look = () => {
          const match = pattern.exec(written);
          if (match === null) return;
          waiting.delete(look);
          resolve(match);
        };
        waiting.add(look);
        look();
      }),
  };
}
