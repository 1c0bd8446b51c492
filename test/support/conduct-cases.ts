import type { AdviceId } from "../../src/domain/advice.js";
import { minute, minuteStart } from "../../src/domain/limits.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import type { World } from "../../src/sandbox/world.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import type { OpenDoor } from "./doors.js";
import { oneKey } from "./one-key.js";

/** What a client does, and the advice that it earns for it. */
export interface ConductCase {
  readonly does: string;
  /** Default: `key-states`. */
  readonly scenario?: Scenario;
  readonly run: (door: OpenDoor) => Promise<void>;
  /** How often it earns each; what is left out it must not earn. */
  readonly earns: Readonly<Partial<Record<AdviceId, number>>>;
}

/** A well-formed key of a sandbox that nobody holds. */
export const stranger = "SVC_test_sbxNobodyHoldsThisOne";
/** What looks like a key of the real service. */
export const realKey = "SVC_live_9f8e7d6c5b4a39281706f5e4d3c2b1a0";

/** The full key of a ref. */
export const secret = ({ world }: OpenDoor, ref = "active") => scenarioSecret(world, ref);

/** Sends `GET /v1/relying-party/me` with the key of a ref and something more. */
export async function sendMore(
  door: OpenDoor,
  more: Parameters<OpenDoor["send"]>[0],
  ref = "active",
): Promise<void> {
  const { headers, ...rest } = more;
  await door.send({ ...rest, headers: { "x-api-key": secret(door, ref), ...headers } });
}

/** `key-states` with faults. */
export function withFaults(faults: NonNullable<Scenario["faults"]>): Scenario {
  return { ...bundledScenarios["key-states"], faults };
}

/** One key with one request in a sliding minute, under these assumptions. */
export function slidingMinute(assumptions: Scenario["assumptions"] = {}): Scenario {
  const key = { limits: { per_minute: 1, per_day: 10 } };
  return oneKey(key, { assumptions: { minute_window: "sliding", ...assumptions } });
}

/** Milliseconds until the next minute begins. */
export function untilTheTurn({ clock }: World): number {
  return minuteStart(clock.now()) + minute - clock.now();
}

/** Every character of a text percent-encoded. */
export function encodedWhole(text: string): string {
  return [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");
}
