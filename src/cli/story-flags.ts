import { readHost, readPort, readSpeed } from "./flag-values.js";
import type { Flag } from "./flags.js";

/** The flags of the commands about stories, as a command sees them. */
export interface StoryFlags {
  readonly playPort?: number;
  readonly playHost?: string;
  /** How many times faster than people read; `Infinity` for `max`. */
  readonly speed?: number;
  readonly step?: boolean;
  readonly all?: boolean;
  readonly verifyWatch?: boolean;
  readonly noColor?: boolean;
}

/** The flags that only commands about stories have. */
export const storyFlags = {
  // No variable opens a port for these: one that is meant for `start` would, beside it.
  playPort: {
    spec: "-p, --port <number>",
    text: "serve the same world on this port while it is told; 0 takes any free one (default: nothing listens)",
    read: readPort,
    variables: [],
  },
  playHost: {
    spec: "-H, --host <address>",
    text: "serve the same world on this address while it is told (default: nothing listens; with --port 127.0.0.1)",
    read: readHost,
    variables: [],
  },
  speed: {
    spec: "--speed <number>",
    text: "how fast to tell it: 2 is twice as fast, 0.5 half, max does not wait (default: 1; max where nobody watches, in a pipe)",
    read: readSpeed,
    variables: ["SVC_SANDBOX_SPEED"],
  },
  step: {
    spec: "--step",
    text: "wait after each step until Enter or Space is pressed; q ends",
    variables: ["SVC_SANDBOX_STEP"],
  },
  all: { spec: "--all", text: "every bundled scenario that has a story", variables: [] },
  // No variable: one that is meant for `start` would let it never end.
  verifyWatch: {
    spec: "--watch",
    text: "verify again whenever a file of the scenarios changes, until Ctrl-C",
    variables: [],
  },
  noColor: { spec: "--no-color", text: "no colours", variables: ["SVC_SANDBOX_NO_COLOR"] },
} as const satisfies Readonly<Record<string, Flag>>;
