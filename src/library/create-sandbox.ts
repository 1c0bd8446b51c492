import { sha256 as digestOf } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Profile } from "../domain/assumptions.js";
import { createWorld } from "../sandbox/create-world.js";
import { type Instant, instantOf, requireKnownOptions } from "../sandbox/operations/input.js";
import { createRuntime, type GivenOptions, givenOptions } from "../sandbox/runtime.js";
import type { Platform, World } from "../sandbox/world.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { checkInput } from "../scenario/check-input.js";
import { resolveSource } from "../scenario/parse-scenario.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { makeFarmers } from "../synthetic/farmers/farmers.js";
import { steadyTime, stopwatch, wallTime } from "./real-time.js";
import type { KeyRef, OrganizationRef, Sandbox, ScenarioSource } from "./sandbox.js";
import { sandboxOn } from "./sandbox-on.js";

/** Options of `createSandbox`. */
export interface SandboxOptions<Source extends ScenarioSource = ScenarioSource> {
  /** A bundled name, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: Source;
  /** Default: the scenario's, else 1. */
  readonly seed?: number;
  /** When the clock starts. Default: the scenario's, else the real time. */
  readonly now?: Instant;
  /** Whether the clock stands still until it is moved. Default: the scenario's, else false. */
  readonly frozen?: boolean;
  /** Which set of assumptions is the base. Default: the scenario's, else `minimal`. */
  readonly profile?: Profile;
}

/**
 * Creates a sandbox: one world, running at once. Synchronous, in Node and in browsers.
 *
 * Throws a `ScenarioError` with every problem of a scenario value, `scenario_not_found`, or `validation_failed` for
 * another option.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states", seed: 7 });
 * const response = await sandbox.fetch("https://any.example/v1/relying-party/me", {
 *   headers: { "x-api-key": sandbox.secret("revoked") },
 * });
 * response.status; // 401
 */
export function createSandbox<const Source extends ScenarioSource>(
  options: SandboxOptions<Source> & { readonly scenario: Source },
): Sandbox<KeyRef<Source>, OrganizationRef<Source>>;
// Apart: with a default for `Source`, editors offer that alone where a name is being typed.
export function createSandbox(
  options?: SandboxOptions<never>,
): Sandbox<KeyRef<"key-states">, OrganizationRef<"key-states">>;
export function createSandbox(options: SandboxOptions): Sandbox;
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  requireKnownOptions("create the sandbox", options, ["scenario", "seed", "now", "frozen", "profile"]);
  const { scenario: source = "key-states" } = options;
  // The checks of a scenario are read when there is one to check.
  const isBundled = typeof source === "string" && isScenarioName(source);
  const { scenario, name } = isBundled
    ? { scenario: bundledScenarios[source], name: source }
    : resolveSource(source);
  return sandboxOn(createRuntime(starterOf(webPlatform, scenario, { ...options, name })));
}

interface StartOptions extends Omit<GivenOptions, "now"> {
  readonly name: string;
  readonly text?: string | undefined;
  readonly now?: Instant | undefined;
}

/** Returns a function that starts the world of a checked scenario; checks the options at once. */
export function starterOf(
  platform: Platform,
  scenario: Scenario,
  { name, text, now, ...options }: StartOptions,
): () => World {
  const given = givenOptions({ ...options, now: now === undefined ? undefined : instantOf(now) });
  const { seed, frozen, profile } = options;
  if (seed !== undefined || frozen !== undefined || profile !== undefined) {
    checkInput("instance_creation", { seed, frozen, profile }, "Failed to use the options");
  }
  return () => createWorld(scenario, { platform, name, text, ...given });
}

/** The edge for every modern JavaScript runtime, browsers included. */
const webPlatform: Platform = {
  sha256,
  time: wallTime,
  steadyTime,
  stopwatch,
  farmers: makeFarmers,
  random: () => crypto.getRandomValues(new Uint32Array(1))[0] as number,
};

/** SHA-256 of a text's UTF-8 bytes, as 64 lower-case hex digits. */
export function sha256(text: string): string {
  return bytesToHex(digestOf(utf8Of(text)));
}

// jsdom has no `TextEncoder`, and keys do not need one.
function utf8Of(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return new TextEncoder().encode(text);
    bytes[i] = unit;
  }
  return bytes;
}
