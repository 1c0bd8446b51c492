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
import { authorizationFacts, presentedAs } from "./answer.js";
import type { Endpoint } from "./endpoint.js";
import { me } from "./endpoints/me.js";

/** The result of one check: passed, refused on a path, or not reached. */
export interface EvaluatedCheck {
  readonly check: AuthorizationCheck;
  readonly result: "passed" | "refused" | "not_reached";
  readonly pathId: PathId | undefined;
}

/** The result of a dry run, with every check on the way. */
export interface Evaluation {
  readonly pathId: ApiPathId;
  readonly checks: readonly EvaluatedCheck[];
  /** The faults that may hit it, each once; only a real request shows whether one fires. */
  readonly faultPaths: readonly FaultPathId[];
}

/**
 * The dry run of a request with a key: counts nothing and journals nothing.
 *
 * `apiKey` is the value of the header; `undefined` without one.
 */
export function evaluate(world: World, apiKey: string | undefined, endpoint: Endpoint = me): Evaluation {
  const entry = world.registry.find(world.platform.sha256(apiKey ?? ""));
  const scope = endpoint.scope(world.assumptions);
  return evaluateFacts(
    world,
    authorizationFacts(world, presentedAs(apiKey), entry, scope, world.clock.now()),
  );
}

/** The dry run of a request with a key of the world, by its ref; throws `unknown_ref`. */
export function evaluateKey(world: World, ref: string, endpoint: Endpoint = me): Evaluation {
  const entry = world.registry.key(ref);
  const scope = endpoint.scope(world.assumptions);
  return evaluateFacts(world, authorizationFacts(world, "well_formed", entry, scope, world.clock.now()));
}

function evaluateFacts(world: World, facts: AuthorizationFacts): Evaluation {
  let refusedOn: PathId | undefined;
  const checks = authorizationChecks.map((check): EvaluatedCheck => {
    if (refusedOn !== undefined) return { check, result: "not_reached", pathId: undefined };
    refusedOn = check.refuse(facts);
    return { check, result: refusedOn === undefined ? "passed" : "refused", pathId: refusedOn };
  });
  const pathId = authorize(facts);
  const matching = matchingFaults(world.faults, {
    key: facts.key?.ref,
    organization: facts.organization?.ref,
    now: facts.now,
    expectedPath: () => pathId,
  });
  return { pathId, checks, faultPaths: [...new Set(matching.map(({ effect }) => faultPathOf(effect)))] };
}
