import { isatty } from "node:tty";

/** Where a command runs: `run-command.ts` shows both places. */
export type CommandPlace = "at_terminal" | "own_group";

/** What a signal to this process does to its command. */
interface SignalStep {
  /** Whether the command gets the signal, also if the terminal may have sent it to both. */
  readonly passedOn: "always" | "unless_from_terminal";
  /** Whether the command is killed if it has not ended some time later. */
  readonly startsKillTimer: boolean;
}

/** What the first and the second signal do. Each later one kills the command. */
export const signalSteps: Readonly<Record<CommandPlace, readonly SignalStep[]>> = {
  at_terminal: [
    { passedOn: "unless_from_terminal", startsKillTimer: false },
    // A signal that was only for this process looks as if it were from the terminal. So the second one is always passed on.
    { passedOn: "always", startsKillTimer: true },
  ],
  own_group: [
    // Nobody waits for it at a terminal.
    { passedOn: "always", startsKillTimer: true },
    { passedOn: "always", startsKillTimer: false },
  ],
};

/** Whether a terminal has sent a signal, which all processes of its foreground group get. */
export function wasSentByTerminal(signal: NodeJS.Signals): boolean {
  // On Windows, each signal is from the terminal, and sending one would end the process.
  if (process.platform === "win32") return true;
  return (signal === "SIGINT" || signal === "SIGQUIT") && (isatty(0) || isatty(2));
}
