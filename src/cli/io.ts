/** Somewhere to write text: a terminal, a pipe, or a test's string. */
export interface Output {
  readonly write: (text: string) => unknown;
  /** Resolves once there is room for more, or the signal is aborted, to whether it is still read. Default: at once to true. */
  readonly room?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** How many characters fit into a line now; `undefined` where lines have no end. */
  readonly columns?: number | undefined;
}

/** The keys pressed on a terminal, one by one, until `close`. */
export interface KeyPresses {
  /** The next key: its character, or a name such as `return`, `space` or `left`; `ctrl-c` for Ctrl-C. */
  readonly next: () => Promise<string>;
  readonly close: () => void;
}

/** Everything that a command touches of its process, so that tests can run it in theirs. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** A signal that is aborted when the process is asked to stop (SIGINT, SIGTERM). */
  readonly stopSignal: () => AbortSignal;
  /** Hands SIGINT, SIGTERM, SIGHUP and SIGQUIT to the listener; returns how to give them back. */
  readonly takeSignals: (listener: (signal: NodeJS.Signals) => void) => () => void;
  /** Ends this process soon, whatever code of the user's own still runs in it. */
  readonly endSoon: () => void;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Listens to the keyboard; `undefined` when the input is no terminal. */
  readonly keyPresses: () => Promise<KeyPresses | undefined>;
}

/** Whether `--verbose` was asked for; works before the command line is understood, since that may be what fails. */
export function isVerbose(argv: readonly string[], env: Io["env"]): boolean {
  const set = env.SVC_SANDBOX_VERBOSE?.toLowerCase() ?? "";
  // Behind `--` stands the command line of another program.
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  return own.includes("--verbose") || !["", "0", "false", "no", "off"].includes(set);
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
