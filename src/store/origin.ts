import { nodePlatform } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { listed } from "../rules/schema/words.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";

/** What a stored sandbox was started with. Members are named like the flags, for messages about a difference. */
export type Origin = Readonly<Record<string, unknown>>;

/** The member with the hash of the scenario's content, which is the same for a moved file. */
const content = "content of the scenario";

const hashes = new WeakMap<object, string>();

export function contentHashOf({ scenario }: Pick<NamedScenario, "scenario">): string {
  const hash = hashes.get(scenario) ?? nodePlatform.sha256(JSON.stringify(scenario));
  hashes.set(scenario, hash);
  return hash;
}

/** Returns the origin of a scenario, with other options that must stay. */
export function originOf(
  { name, sha256 }: { readonly name: string; readonly sha256: string },
  others: Origin = {},
): Origin {
  return { scenario: name, [content]: sha256.slice(0, 12), ...others };
}

type Stored = Readonly<Record<"what" | "elsewhere", string>> & {
  readonly code: "state_mismatch" | "store_mismatch";
};

/** Throws if a sandbox was started with another scenario or other options. The name of the same scenario may change. */
export function requireSame({ code, what, elsewhere }: Stored, theirs: Origin, ours: Origin): void {
  const names = differencesOf(theirs, ours);
  if (names.every((name) => name === "scenario")) return;
  throw new SandboxError(
    code,
    `${what} was started with ${shownIn(theirs, names)}, and this one has ${shownIn(ours, names)}. Start this one with the same, or ${elsewhere}.`,
    { stored: theirs, own: ours },
  );
}

function shownIn(members: Origin, names: readonly string[]): string {
  const memberTexts = names.map(
    (name) => `${name} ${name in members ? JSON.stringify(members[name]) : "(none)"}`,
  );
  return listed(memberTexts, "and");
}

export function sandboxExists(what: string, elsewhere: string): SandboxError {
  return new SandboxError(
    "sandbox_exists",
    `${what} already contains a sandbox, and --import does not replace it. Start without --import, or ${elsewhere}.`,
  );
}

function differencesOf(theirs: Origin, ours: Origin): string[] {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].filter((name) => JSON.stringify(theirs[name]) !== JSON.stringify(ours[name]));
}
