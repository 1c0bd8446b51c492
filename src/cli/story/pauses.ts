import type { StepResult } from "../../sandbox/story/story.js";
import { usageError } from "../exit-codes.js";
import { aborted, type Io } from "../io.js";

interface PauseFlags {
  readonly step?: boolean;
  /** The factor by which it is faster than people read; `Infinity` does not wait. */
  readonly speed?: number;
  readonly json?: boolean;
}

export interface Pauses {
  /** Waits after a step that was shown like this; resolves to whether to go on. */
  readonly after: (result: StepResult, shown: string) => Promise<boolean>;
  readonly close: () => void;
}

/** The pauses that the flags ask for: by hand, with time to read, or none. */
export async function pausesFor(flags: PauseFlags, io: Io, stop: AbortSignal): Promise<Pauses> {
  return flags.step === true ? byHand(io, stop) : withTimeToRead(flags, io, stop);
}

// What timers can wait for; a longer one would not wait at all.
const longestPause = 2 ** 31 - 1;

function withTimeToRead({ json, speed: given }: PauseFlags, io: Io, stop: AbortSignal): Pauses {
  const speed = given ?? (io.stdout.isTTY === true ? 1 : Number.POSITIVE_INFINITY);
  const isHurried = json === true || speed === Number.POSITIVE_INFINITY;
  return {
    async after({ kind }, shown) {
      // Narration is read word for word, an exchange is only looked over.
      const perCharacter = kind === "request" ? 18 : 50;
      const time = shown.replace(/\s+/g, "").length * perCharacter;
      const pause = Math.min(12_000, Math.max(1200, time)) / speed;
      if (!isHurried) await io.wait(Math.min(pause, longestPause), stop);
      return !stop.aborted;
    },
    close() {},
  };
}

// Presenters' clickers press Page Down and Page Up.
const forward = ["return", "enter", "space", "right", "down", "pagedown"];
const back = ["left", "up", "b", "backspace", "pageup"];
const ends = ["q", "escape", "ctrl-c", "ctrl-d"];

async function byHand(io: Io, stop: AbortSignal): Promise<Pauses> {
  const presses = await io.keyPresses();
  if (presses === undefined) {
    throw usageError(
      "Failed to play step by step: --step (or SVC_SANDBOX_STEP) needs a terminal to press Enter in, and the input is none. Leave it out; --speed 1 gives time to read.",
    );
  }
  const { next, close } = presses;
  const stopped = aborted(stop).then(() => "ctrl-c");
  return {
    async after() {
      for (;;) {
        const key = await Promise.race([stopped, next()]);
        if (ends.includes(key)) return false;
        if (forward.includes(key)) return true;
        if (!back.includes(key)) continue;
        io.stderr.write("A story cannot go back: what was done is done. q ends; then play it again.\n");
      }
    },
    close,
  };
}
