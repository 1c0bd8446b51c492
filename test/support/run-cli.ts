import { Readable, type Writable } from "node:stream";
import { onTestFinished } from "vitest";
import { cli } from "../../src/cli/cli.js";
import type { KeyPresses } from "../../src/cli/io.js";
import type { Output } from "../../src/cli/terminal.js";
import { temporaryFolder } from "./temporary-folder.js";

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What stands on the standard input. */
  readonly input?: string;
  /** Whether it is an error to open the standard input, as a command does that reads it. */
  readonly rejectsInput?: boolean;
  /** The ends of somebody who talks with it over its standard input and output. */
  readonly pipes?: { readonly stdin: Readable; readonly stdout: Writable };
  /** Whether stdout and stderr pretend to be a terminal. */
  readonly terminal?: boolean;
  readonly columns?: number;
  /** The keys that somebody presses, in order, by their names; left out when nobody sits at a keyboard. */
  readonly keys?: readonly string[];
  /** Waits so many milliseconds. Default: does not wait. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An output that remembers, and that can be waited for. */
interface Written extends Output {
  readonly text: () => string;
  /** Resolves with the match once the text matches. */
  readonly shows: (pattern: RegExp) => Promise<RegExpExecArray>;
}

/** A run that goes on until it is stopped. */
export interface Running {
  readonly stdout: Written;
  readonly stderr: Written;
  /** Asks it to stop, as a signal does, and resolves to what it left behind. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Ran>;
  readonly done: Promise<Ran>;
}

/** Runs a command line in this process to its end. */
export function runCli(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run(argv, options).done;
}

/** Runs a command line in this process until it is stopped, at the latest when the test ends. */
export function startCli(argv: readonly string[], options: RunOptions = {}): Running {
  const running = run(argv, options);
  onTestFinished(async () => void (await running.stop()));
  return running;
}

/** Serves on a free port unless `--port` is given, by default in an empty folder, as `startCli` does. */
export function serve(argv: readonly string[], options: RunOptions = {}): Running {
  const port = argv.includes("--port") ? [] : ["--port", "0"];
  return startCli([...argv, ...port], { cwd: temporaryFolder(), ...options });
}

function run(argv: readonly string[], options: RunOptions): Running {
  const stopping = new AbortController();
  const stdout = createWritten(options, options.pipes?.stdout);
  const stderr = createWritten(options);
  const { env = {}, cwd = process.cwd(), keys, input, wait = async () => {} } = options;
  const io = {
    stdout,
    stderr,
    stdin() {
      if (options.rejectsInput) throw new Error("stdin was opened");
      return options.pipes?.stdin ?? Readable.from(input === undefined ? [] : [Buffer.from(input)]);
    },
    env,
    cwd,
    wait,
    stopSignal: () => stopping.signal,
    stopProcess: () => stopping.abort(),
    takeSignals: () => () => {},
    takeUncaught() {},
    endSoon() {},
    keyPresses: async () => keys && pressed(keys),
  };
  const done = cli(argv, io).then((code) => ({ code, stdout: stdout.text(), stderr: stderr.text() }));
  return {
    stdout,
    stderr,
    done,
    stop(signal) {
      stopping.abort(signal);
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

function pressed(keys: readonly string[]): KeyPresses {
  const left = [...keys];
  // After the last key no key is pressed any more.
  const next = async () => left.shift() ?? new Promise<string>(() => {});
  return { next, close() {} };
}

function createWritten({ terminal = false, columns }: RunOptions, pipe?: Writable): Written {
  let written = "";
  const waiting = new Set<() => void>();
  return {
    isTTY: terminal,
    columns,
    write(text, done) {
      written += text;
      pipe?.write(text);
      done?.();
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
