/** Somewhere to write text: a terminal, a pipe, or a test's string. */
export interface Output {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean | undefined;
}

/** Everything that a command touches of the process it runs in, so that tests can run it in theirs. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Starts to listen for the wish to stop (SIGINT, SIGTERM); the signal is aborted when it comes. */
  readonly stopSignal: () => AbortSignal;
}
