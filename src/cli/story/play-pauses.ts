import type { PlayedStep } from "../../sandbox/steps.js";
import type { CommandCall } from "../command.js";
import { usageError } from "../exit-codes.js";
import { aborted, type Io } from "../io.js";

/** The time between two steps. */
export interface Pauses {
  /** Waits after a step with this text; resolves to what follows: the next step, or the end that the user asked for. */
  readonly waitAfter: (result: PlayedStep, shown: string) => Promise<"next" | "end">;
  readonly close: () => void;
}

interface PauseFlags {
  readonly speed?: number;
  readonly step?: boolean;
  readonly json?: boolean;
}

/** The pauses that the flags set: until a key is pressed, with time to read, or none. */
export async function createPauses(
  { flags, io }: Pick<CommandCall<PauseFlags>, "flags" | "io">,
  stop: AbortSignal,
): Promise<Pauses> {
  if (flags.step) return createKeyPauses(io, stop);

  // A program that reads the output waits for nothing.
  const standardSpeed = io.stdout.isTTY ? 1 : Number.POSITIVE_INFINITY;
  const speed = flags.json ? Number.POSITIVE_INFINITY : (flags.speed ?? standardSpeed);
  return {
    async waitAfter({ kind }, shown) {
      // People read narration word by word, and only skim requests.
      const perCharacter = kind === "request" ? 18 : 50;
      const time = shown.replace(/\s+/g, "").length * perCharacter;
      const pause = Math.min(12_000, Math.max(1200, time)) / speed;
      if (pause > 0) await io.wait(pause, stop);
      return stop.aborted ? "end" : "next";
    },
    close() {},
  };
}

/** What the keyboard does with --step, for the outline of a story. */
export const stepKeysHelp = " Enter or Space: the next step. q: the end.";
// Presenters' clickers press Page Down.
const keysForNextStep = ["return", "enter", "space", "right", "down", "pagedown"];
const keysForTheEnd = ["q", "escape", "ctrl-c", "ctrl-d"];

/** Pauses that end with a key. */
async function createKeyPauses(io: Io, stop: AbortSignal): Promise<Pauses> {
  const presses = await io.keyPresses();
  if (presses === undefined) {
    throw usageError(
      "--step (or SVC_SANDBOX_STEP) requires a terminal, and the input is not one. Remove it; --speed 1 leaves time to read.",
    );
  }

  const stopped = aborted(stop).then(() => "ctrl-c");
  return {
    async waitAfter() {
      for (;;) {
        const key = await Promise.race([stopped, presses.next()]);
        if (keysForTheEnd.includes(key)) return "end";
        if (keysForNextStep.includes(key)) return "next";
      }
    },
    close: presses.close,
  };
}
