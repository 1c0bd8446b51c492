import type { TellingStep } from "./tell-step.js";

/** Milliseconds for each character of what is read word for word, and of what is only looked over. */
const perCharacter = { prose: 50, exchange: 18 } as const;
const shortest = 1200;
const longest = 12_000;

/** How long people need for a step that is shown like this, in milliseconds. */
export function readingTime({ kind }: TellingStep, shown: string): number {
  const { length } = shown.replace(/\s+/g, "");
  const time = length * perCharacter[kind === "request" ? "exchange" : "prose"];
  return Math.min(longest, Math.max(shortest, time));
}
