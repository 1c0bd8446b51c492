import type { Io } from "./io.js";

/**
 * The program as its user starts it. `npx` and scripts of npm set `npm_command`: what npm has installed for them is found
 * by `npx` alone.
 */
export function programName({ npm_command: command }: Io["env"]): string {
  return command === undefined ? "svc-sandbox" : "npx svc-sandbox";
}
