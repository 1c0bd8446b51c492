import { endBySignal } from "../../node/process/run-command.js";
import type { Io } from "../io.js";

/** How long the report may take once somebody has asked to stop, in milliseconds. */
const patience = 5000;

/** What signals are for: first for the command, then for what comes after it. */
export interface SignalsHandedOver {
  /** Hands the signals to the command's listener. */
  readonly take: (listener: (signal: NodeJS.Signals) => void) => void;
  /** From now on the second one ends this process, and the first one does after some patience. */
  readonly commandEnded: () => void;
  /** Leaves them to whoever had them before. */
  readonly release: () => void;
}

/** Takes the signals for a command, and when that has ended sees to it that they can end what is left to do, by `end`. */
export function handOver(takeSignals: Io["takeSignals"], end = endBySignal): SignalsHandedOver {
  let isOver = false;
  let asked = 0;
  let release = () => {};
  let deadline: NodeJS.Timeout | undefined;
  const endWith = (signal: NodeJS.Signals) => {
    release();
    end(signal);
  };
  const later = (signal: NodeJS.Signals) => {
    asked += 1;
    if (asked === 1) deadline = setTimeout(endWith, patience, signal);
    else endWith(signal);
  };
  return {
    take(listener) {
      release = takeSignals((signal) => (isOver ? later(signal) : listener(signal)));
    },
    commandEnded() {
      isOver = true;
    },
    release() {
      clearTimeout(deadline);
      release();
    },
  };
}
