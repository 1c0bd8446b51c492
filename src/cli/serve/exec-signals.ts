import { endBySignal } from "../../node/process/run-command.js";
import type { Io } from "../io.js";

/** The milliseconds that the report may take after a signal. */
const patience = 5000;

/** Signals that go to the command first, and to this process after it. */
interface SignalsHandedOver {
  /** Hands the signals to the command's listener. */
  readonly take: (listener: (signal: NodeJS.Signals) => void) => void;
  /** From now on the second signal ends this process, and the first one does so after a while. */
  readonly commandEnded: () => void;
  /** Gives the signals back. */
  readonly release: () => void;
}

/** Takes the signals for a command; after the command they end this process by `end`. */
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
