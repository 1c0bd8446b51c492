import {
  fingerprintOf,
  formOfKey,
  isMarked,
  isSandboxKey,
  keyPrefixes,
  parseApiKey,
} from "../rules/api-key.js";
import { authorizationChecks } from "../rules/authorize.js";
import { SandboxError } from "../rules/errors.js";
import { outcomeOf, type PathId } from "../rules/outcomes.js";
import { didYouMean, listed, quote } from "../rules/schema/words.js";
import { isoOf } from "../sandbox/clock.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { secretFor } from "../sandbox/story/run-step.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { isReserved, reservedKeyRefs } from "../scenario/format/fields.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { Endpoint } from "./endpoint.js";
import { causeOf, evaluate } from "./evaluate.js";
import { expectedCode } from "./messages.js";
import { checkResults } from "./request-details.js";
import { firstEndpoint } from "./routes.js";

/** Returns the x-api-key header for a word of the command line; `undefined` for none. Not for output. */
export function apiKeyFor(
  word: string,
  sandbox: SandboxState,
  scenario: string,
  program = "svc-sandbox",
): string | undefined {
  const { keys } = sandbox.registry;
  if (keys.has(word) || isReserved(word)) return secretFor(sandbox, word);
  if (!looksLikeRef(word)) return word.trim();
  // Also for the path that the key of this name ends on.
  const keyStates: Scenario = bundledScenarios["key-states"];
  const isBundled = Object.values(keyStates.organizations ?? {}).some(({ keys = {} }) =>
    Object.hasOwn(keys, word),
  );
  if (isBundled) throw ofBundled(word, scenario, program);
  const hint = didYouMean(word.replace(/^\d{3}\./, ""), [...keys.keys(), ...reservedKeyRefs]);
  throw new SandboxError(
    "unknown_ref",
    `Unknown key ${quote(word)} in ${scenario}.${hint} List its keys with \`${program} keys ${scenario}\`, or use ${listed(reservedKeyRefs, "or")}.`,
  );
}

function ofBundled(word: string, scenario: string, program: string): SandboxError {
  const example = `\`${program} explain ${word} key-states\``;
  return new SandboxError(
    "unknown_ref",
    `Unknown key ${quote(word)} in ${scenario}. It is a key of the bundled key-states: ${example}. List the keys of ${scenario} with \`${program} keys ${scenario}\`.`,
  );
}

// Anything else counts as a client's header. Messages leave out long words: a key without its prefix may look like this.
function looksLikeRef(word: string): boolean {
  return /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(word) && word.length <= 24 && parseApiKey(word) === undefined;
}

/** What an endpoint returns for a key, and why, as JSON. */
export interface KeyExplanation {
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly method: string;
  readonly path: string;
  readonly at: string;
  readonly checks: readonly ExplainedCheck[];
  readonly status: number;
  readonly code: string | null;
  readonly path_id: PathId;
  readonly fault_paths: readonly PathId[];
  readonly when: string;
  readonly why: string | null;
  readonly what_to_do: string;
  /** Well-formed, but not of this scenario and not of any sandbox. */
  readonly real_key_suspected: boolean;
  readonly key_of_another_sandbox: boolean;
  /** The ref of the key that this one is with another prefix (R15). */
  readonly other_prefix_of: string | null;
  /** Whether it has the mark of a sandbox, but not the length of its keys. */
  readonly key_cut: boolean;
  /** The form of a key that the sandbox does not have. */
  readonly key_form: string | null;
}

interface ExplainedCheck {
  readonly name: string;
  readonly question: string;
  readonly result: "passed" | "rejected" | "not_reached";
  readonly path_id: PathId | null;
}

export function explain(
  apiKey: string | undefined,
  sandbox: SandboxState,
  endpoint: Endpoint = firstEndpoint(sandbox),
): KeyExplanation {
  const sha256 = apiKey === undefined ? undefined : sandbox.platform.sha256(apiKey);
  const entry = sha256 === undefined ? undefined : sandbox.registry.find(sha256);
  const ref = entry?.key.ref;
  const stray = entry === undefined && sha256 !== sandbox.behavior.unknownKey ? apiKey : undefined;
  const otherPrefixOf = refWithOtherPrefix(stray, sandbox);
  const { pathId, faultPaths } = evaluate(sandbox, apiKey, endpoint);
  const { status, when, whatToDo } = outcomeOf(pathId);
  return {
    key: ref ?? null,
    fingerprint: sha256 === undefined ? null : fingerprintOf(sha256),
    method: endpoint.method,
    path: endpoint.path,
    at: isoOf(sandbox.clock.now()),
    checks: checkResults(authorizationChecks, pathId).map(({ rules: _, ...check }) => ({
      ...check,
      path_id: check.result === "rejected" ? pathId : null,
    })),
    status,
    code: expectedCode(sandbox, pathId),
    path_id: pathId,
    fault_paths: faultPaths,
    when,
    why: entry === undefined ? null : causeOf(sandbox, pathId, entry, endpoint),
    what_to_do: whatToDo,
    real_key_suspected: ref === undefined && parseApiKey(apiKey ?? "")?.marked === false,
    key_of_another_sandbox: isSandboxKey(stray ?? "") && otherPrefixOf === null,
    other_prefix_of: otherPrefixOf,
    key_cut: parseApiKey(stray ?? "") !== undefined && isMarked(stray ?? "") && !isSandboxKey(stray ?? ""),
    key_form: stray === undefined ? null : formOfKey(stray),
  };
}

/** Returns the ref of the key that a text is with another prefix; `null` if there is none. */
function refWithOtherPrefix(text = "", { platform, registry }: SandboxState): string | null {
  const prefixRow = keyPrefixes.find(({ prefix }) => text.startsWith(prefix));
  if (prefixRow === undefined) return null;
  const others = keyPrefixes.map(({ prefix }) => prefix + text.slice(prefixRow.prefix.length));
  const entries = others.flatMap((other) => registry.find(platform.sha256(other)) ?? []);
  return entries[0]?.key.ref ?? null;
}
