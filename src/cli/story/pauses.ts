import type { PlayedStep } from "../../sandbox/steps.js";
import { usageError } from "../exit-codes.js";
import { aborted, type Io } from "../io.js";
import { tell } from "../terminal.js";

interface PauseFlags {
  readonly step?: boolean;
  /** The factor compared with the time people need to read; `Infinity` does not wait. */
  readonly speed?: number;
  readonly json?: boolean;
}

export interface Pauses {
  /** The available keys, as a sentence; empty if there are none. */
  readonly keys: string;
  /** Waits after a step with this text; resolves to whether to continue. */
  readonly after: (result: PlayedStep, shown: string) => Promise<boolean>;
  readonly close: () => void;
}

/** Returns the pauses that the flags set: with keys, with time to read, or none. */
export async function pausesFor(flags: PauseFlags, io: Io, stop: AbortSignal): Promise<Pauses> {
  if (flags.step === true) return byHand(io, stop);
  const speed = flags.speed ?? (io.stdout.isTTY === true ? 1 : Number.POSITIVE_INFINITY);
  const isHurried = flags.json === true || speed === Number.POSITIVE_INFINITY;
  return isHurried ? noPauses(stop) : withTimeToRead(speed, io, stop);
}

// The maximum of timers, which would not wait for longer.
const longestPause = 2 ** 31 - 1;

function noPauses(stop: AbortSignal): Pauses {
  return { keys: "", after: async () => !stop.aborted, close() {} };
}

async function withTimeToRead(speed: number, io: Io, stop: AbortSignal): Promise<Pauses> {
  const presses = io.stdout.isTTY === true ? await io.keyPresses() : undefined;
  const never = new Promise<string>(() => {});
  // Kept from pause to pause until a key is pressed, so that no key is lost.
  let pressed: Promise<string> | undefined;
  const stopped = aborted(stop).then(() => "ctrl-c");
  const timeFor = ({ kind }: PlayedStep, shown: string) => {
    // People read narration word by word, and only skim requests.
    const perCharacter = kind === "request" ? 18 : 50;
    const time = shown.replace(/\s+/g, "").length * perCharacter;
    return Math.min(Math.min(12_000, Math.max(1200, time)) / speed, longestPause);
  };
  return {
    keys: presses === undefined ? "" : "Space pauses, Enter continues, q ends.",
    async after(result, shown) {
      const over = new AbortController();
      const time = io.wait(timeFor(result, shown), AbortSignal.any([stop, over.signal]));
      let end: Promise<string> = time.then(() => "");
      for (;;) {
        pressed ??= presses?.next() ?? never;
        const key = await Promise.race([stopped, end, pressed]);
        if (key !== "") pressed = undefined;
        if (key === "space" && end !== never) {
          end = never;
          tell(io.stderr, "Paused. Space or Enter continues, q ends.\n\n");
        } else if (key === "" || ends.includes(key) || forward.includes(key)) {
          over.abort();
          return !stop.aborted && !ends.includes(key);
        }
      }
    },
    close: () => presses?.close(),
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
      "--step (or SVC_SANDBOX_STEP) requires a terminal, and the input is not one. Remove it; --speed 1 leaves time to read.",
    );
  }
  const { next, close } = presses;
  const stopped = aborted(stop).then(() => "ctrl-c");
  return {
    keys: "Enter or Space: the next step. q: the end.",
    async after() {
      for (;;) {
        const key = await Promise.race([stopped, next()]);
        if (ends.includes(key)) return false;
        if (forward.includes(key)) return true;
        if (!back.includes(key)) continue;
        tell(io.stderr, "A story cannot go back. Press q to end it, then play it again.\n");
      }
    },
    close,
  };
}
