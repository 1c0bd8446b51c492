/** Somewhere to write text: a terminal, a pipe, or a test's string. */
export interface Output {
  readonly write: (text: string) => unknown;
  /**
   * Resolves once there is room for more, or the signal is aborted; to whether anybody still reads it.
   *
   * Default: there always is, and somebody does.
   */
  readonly room?: (until: AbortSignal) => Promise<boolean>;
  readonly isTTY?: boolean | undefined;
  /** How many characters fit into a line now; `undefined` where lines have no end. */
  readonly columns?: number | undefined;
}

/** Somebody at the keyboard, whose keys are heard one by one until `close`. */
export interface KeyPresses {
  /** The next key: its character, or a name such as `return`, `space` or `left`; `ctrl-c` for a wish to stop. */
  readonly next: () => Promise<string>;
  readonly close: () => void;
}

/** Everything that a command touches of the process it runs in, so that tests can run it in theirs. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Starts to listen for the wish to stop (SIGINT, SIGTERM); the signal is aborted when it comes. */
  readonly stopSignal: () => AbortSignal;
  /** Hands what would end this process (SIGINT, SIGTERM, SIGHUP, SIGQUIT) to the listener, until the answer is called. */
  readonly takeSignals: (listener: (signal: NodeJS.Signals) => void) => () => void;
  /** Ends this process in a moment, whatever code of the user's own still runs in it. */
  readonly endSoon: () => void;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Begins to hear keys; `undefined` when no terminal is there to press them. */
  readonly keyPresses: () => Promise<KeyPresses | undefined>;
}
