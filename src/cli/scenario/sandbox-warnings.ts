import { ownAssumptionNames } from "../../api/variation/vary.js";
import type { Logger } from "../../node/logger.js";
import { isoTime, minute } from "../../rules/time.js";
import type { SandboxState, StartOptions } from "../../sandbox/sandbox-state.js";
import { listed } from "../../schema/words.js";

/** Warns about assumptions of the scenario that override a given `--profile`. */
export function warnOfOverriddenProfile(sandbox: SandboxState, { profile }: StartOptions, log: Logger): void {
  // A state file overrides the flag.
  if (profile !== sandbox.profile) return;
  const pinned = ownAssumptionNames(sandbox);
  if (pinned.length === 0) return;
  const are = pinned.length === 1 ? "is" : "are";
  log.note(`${listed(pinned, "and")} ${are} set by ${sandbox.name}, not by --profile ${profile}.`);
}

/** Warns about dates in responses that are far from the client's clock: many clients compare them with it. */
export function warnOfDates(sandbox: SandboxState, log: Pick<Logger, "note">): void {
  const { clock, platform } = sandbox;
  const hasDates = sandbox.faults.some(({ effect }) => effect.retryAfter?.asDate);
  if (!hasDates && sandbox.assumptions.retry_after !== "date") return;
  const ahead = clock.now() - platform.time();
  if (Math.abs(ahead) < minute) return;

  let effect = "in the past for your client, which then retries immediately";
  if (ahead > 0) effect = "in the future for your client, which then waits for too long";
  log.note(
    `Retry-After has dates of the sandbox's clock, ${isoTime(clock.now())}: ${effect}. Start with --now ${isoTime(platform.time())}, or send seconds.`,
  );
}
