import { aborted } from "./aborted.js";
import type { Call } from "./command.js";
import { readSwitch } from "./flag-values.js";
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

// What timers can wait for; a longer one would not wait at all.
const longestPause = 2 ** 31 - 1;

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
      if (!isHurried) await io.wait(Math.min(readingTime(told, shown) / speed, longestPause), stop);
      return !stop.aborted;
    },
    close() {},
  };
}

async function byHand({ flags, io }: Call, stop: AbortSignal): Promise<Pauses> {
  const presses = await io.keyPresses();
  if (presses === undefined) throw noTerminal(flags, io);
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

// An empty variable counts as not set; one that says no would not have led here by itself.
function noTerminal({ speed }: Call["flags"], { env }: Call["io"]): Error {
  const variable = "SVC_SANDBOX_STEP";
  const isSet = (env[variable] ?? "") !== "" && readSwitch(env[variable] as string, variable);
  const step = isSet ? variable : "--step";
  const instead = isSet ? `Unset ${variable}` : "Leave --step out";
  const pace = speed === undefined ? ", and give --speed 1 to have time to read" : "";
  return usageError(
    `Failed to play step by step: ${step} needs a terminal to press Enter in, and the input is none. ${instead}${pace}.`,
  );
}
