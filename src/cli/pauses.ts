import { aborted } from "./aborted.js";
import type { Call } from "./command.js";
import { readingTime } from "./reading-time.js";
import type { TellingStep } from "./tell-step.js";
import { usageError } from "./usage-error.js";

/** The pauses between the steps of a story. */
export interface Pauses {
  /** Waits after a step that was shown like this; resolves to whether to go on. */
  readonly after: (told: TellingStep, shown: string) => Promise<boolean>;
  /** Whether somebody decides when the story goes on. */
  readonly byHand: boolean;
  readonly close: () => void;
}

// Presenters' clickers press Page Down and Page Up.
const forward: ReadonlySet<string> = new Set(["return", "enter", "space", "right", "down", "pagedown"]);
const back: ReadonlySet<string> = new Set(["left", "up", "b", "backspace", "pageup"]);
const ends: ReadonlySet<string> = new Set(["q", "escape", "ctrl-c", "ctrl-d"]);

/** The pauses that the flags ask for: by hand, with time to read, or none. */
export async function pausesFor(call: Call, stop: AbortSignal): Promise<Pauses> {
  return call.flags.step === true ? byHand(call, stop) : withTimeToRead(call, stop);
}

function withTimeToRead({ flags, io }: Call, stop: AbortSignal): Pauses {
  const { speed = io.stdout.isTTY === true ? 1 : Number.POSITIVE_INFINITY } = flags;
  const isHurried = flags.json === true || speed === Number.POSITIVE_INFINITY;
  return {
    byHand: false,
    async after(told, shown) {
      if (!isHurried) await io.wait(readingTime(told, shown) / speed, stop);
      return !stop.aborted;
    },
    close() {},
  };
}

async function byHand({ io }: Call, stop: AbortSignal): Promise<Pauses> {
  const presses = await io.keyPresses();
  if (presses === undefined) {
    throw usageError(
      "Failed to play step by step: --step needs a terminal to press Enter in, and the input is none. Leave --step out, or give --speed.",
    );
  }
  const { next, close } = presses;
  const stopped = aborted(stop).then(() => "ctrl-c");
  io.stderr.write("Enter or Space: the next step. q: the end.\n\n");
  return {
    byHand: true,
    async after() {
      for (;;) {
        const key = await Promise.race([stopped, next()]);
        if (ends.has(key)) return false;
        if (forward.has(key)) return true;
        if (back.has(key)) {
          io.stderr.write("A story cannot go back: what was done is done. q ends; then play it again.\n");
        }
      }
    },
    close,
  };
}
