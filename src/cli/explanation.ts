import { me } from "../api/endpoints/me.js";
import { evaluate } from "../api/evaluate.js";
import { expectedCode } from "../api/messages.js";
import { reasonOf } from "../api/verdict.js";
import { fingerprintOf, isSandboxKey, parseApiKey } from "../domain/api-key.js";
import { SandboxError } from "../domain/errors.js";
import { outcomeOf } from "../domain/outcomes.js";
import { isReserved, reservedKeyRefs } from "../scenario/format/fields.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import { isoOf } from "../world/clock.js";
import { secretFor } from "../world/story/run-step.js";
import type { World } from "../world/world.js";

/** The x-api-key header that a word on the command line stands for; `undefined` for none. Not to be printed. */
export function headerOf(word: string, world: World, scenario: string): string | undefined {
  const { keys } = world.registry;
  if (keys.has(word) || isReserved(word)) return secretFor(world, word);
  if (!looksLikeRef(word)) return word.trim();
  const hint = didYouMean(word, [...keys.keys(), ...reservedKeyRefs]);
  throw new SandboxError(
    "unknown_ref",
    `Failed to find the key ${quote(word)} in ${scenario}.${hint} List its keys with \`svc-sandbox keys ${scenario}\`, or give ${listed(reservedKeyRefs, "or")}.`,
  );
}

// Everything else is taken for what a client put into the header. Long words are not repeated in a message: a key
// whose prefix was left out may look like this.
function looksLikeRef(word: string): boolean {
  return /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/i.test(word) && word.length <= 24 && parseApiKey(word) === undefined;
}

export type Explanation = ReturnType<typeof explain>;

/** The checks of a request with this x-api-key header, and its end; sends nothing and counts nothing. */
export function explain(apiKey: string | undefined, world: World) {
  const sha256 = apiKey === undefined ? undefined : world.platform.sha256(apiKey);
  const entry = sha256 === undefined ? undefined : world.registry.find(sha256);
  const ref = entry?.key.ref;
  const { pathId, checks, faultPaths } = evaluate(world, apiKey);
  const { status, when, whatToDo } = outcomeOf(pathId);
  return {
    key: ref ?? null,
    fingerprint: sha256 === undefined ? null : fingerprintOf(sha256),
    method: me.method,
    path: me.path,
    at: isoOf(world.clock.now()),
    checks: checks.map(({ check, result, pathId: refusedOn }) => ({
      name: check.name,
      question: check.question,
      result,
      path_id: refusedOn ?? null,
    })),
    status,
    code: expectedCode(world, pathId),
    path_id: pathId,
    fault_paths: faultPaths,
    when,
    why: entry === undefined ? null : reasonOf(world, pathId, entry),
    what_to_do: whatToDo,
    // Well-formed, but neither of this scenario nor of any sandbox.
    real_key_suspected: ref === undefined && parseApiKey(apiKey ?? "")?.marked === false,
    key_of_another_sandbox:
      ref === undefined && isSandboxKey(apiKey ?? "") && sha256 !== world.behaviour.unknownKey,
  };
}
