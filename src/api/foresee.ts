import {
  type AuthorizationCheck,
  type AuthorizationFacts,
  authorizationChecks,
  authorize,
} from "../domain/authorize.js";
import { faultPathOf } from "../domain/fault.js";
import type { ApiPathId, FaultPathId, PathId } from "../domain/outcomes.js";
import { matchingFaults } from "../sandbox/faults.js";
import type { World } from "../sandbox/world.js";
import type { Endpoint } from "./endpoint.js";
import { me } from "./endpoints/me.js";
import { authorizationFacts, presentedAs } from "./facts.js";

/** One check as a request would meet it: passed, refused on a path, or never reached. */
export interface EvaluatedCheck {
  readonly check: AuthorizationCheck;
  readonly result: "passed" | "refused" | "not_reached";
  readonly pathId: PathId | undefined;
}

/** How a request with this key would end now, and every check on its way. */
export interface Evaluation {
  readonly pathId: ApiPathId;
  readonly checks: readonly EvaluatedCheck[];
  /** What faults may make of it, each once; whether one of them hits is known only when the request is made. */
  readonly faultPaths: readonly FaultPathId[];
}

/**
 * Says how a request with a key would end, without making it: nothing is counted and nothing journaled.
 *
 * `apiKey` is what the header would hold; `undefined` when there would be none.
 */
export function evaluate(world: World, apiKey: string | undefined, endpoint: Endpoint = me): Evaluation {
  const entry = world.registry.find(world.platform.sha256(apiKey ?? ""));
  const scope = endpoint.scope(world.assumptions);
  return foreseeFacts(world, authorizationFacts(world, presentedAs(apiKey), entry, scope, world.clock.now()));
}

/** The same for a key of the world, by its ref; throws `unknown_ref`. */
export function evaluateKey(world: World, ref: string, endpoint: Endpoint = me): Evaluation {
  const entry = world.registry.key(ref);
  const scope = endpoint.scope(world.assumptions);
  return foreseeFacts(world, authorizationFacts(world, "well_formed", entry, scope, world.clock.now()));
}

function foreseeFacts(world: World, facts: AuthorizationFacts): Evaluation {
  let refusedOn: PathId | undefined;
  const checks = authorizationChecks.map((check): EvaluatedCheck => {
    if (refusedOn !== undefined) return { check, result: "not_reached", pathId: undefined };
    refusedOn = check.refuse(facts);
    return { check, result: refusedOn === undefined ? "passed" : "refused", pathId: refusedOn };
  });
  const pathId = authorize(facts);
  const meant = matchingFaults(world.faults, {
    key: facts.key?.ref,
    organization: facts.organization?.ref,
    now: facts.now,
    foreseenPath: () => pathId,
  });
  return { pathId, checks, faultPaths: [...new Set(meant.map(({ effect }) => faultPathOf(effect)))] };
}
