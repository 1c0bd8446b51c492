import { matchingFaults } from "../sandbox/faults.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import {
  type AuthorizationCheck,
  authorizationChecks,
  authorize,
  type Presented,
} from "../spec/authorize.js";
import { faultPathOf } from "../spec/fault.js";
import type { ApiPathId, FaultPathId, PathId } from "../spec/outcomes.js";
import { authorizationFacts, scopeOf } from "./answer.js";
import type { Endpoint } from "./endpoint.js";
import { me } from "./endpoints/me.js";
import { presentedAs } from "./handle.js";

export interface EvaluatedCheck {
  readonly check: AuthorizationCheck;
  readonly result: "passed" | "refused" | "not_reached";
  readonly pathId: PathId | undefined;
}

/** The result of a dry run, with every check. */
export interface Evaluation {
  readonly pathId: ApiPathId;
  readonly checks: readonly EvaluatedCheck[];
  /** The faults that may hit it, each listed once; only a real request shows whether one fires. */
  readonly faultPaths: readonly FaultPathId[];
}

/**
 * The dry run of a request to the released endpoint: neither counted nor recorded in the journal.
 *
 * `apiKey` is the value of the header; `undefined` without a header.
 */
export function evaluate(world: World, apiKey: string | undefined): Evaluation {
  const entry = world.registry.find(world.platform.sha256(apiKey ?? ""));
  return evaluateFacts(world, presentedAs(apiKey), entry, me);
}

/** The dry run of a request with the key of a ref; throws `unknown_ref`. */
export function evaluateKey(world: World, ref: string, endpoint: Endpoint = me): Evaluation {
  return evaluateFacts(world, "well_formed", world.registry.key(ref), endpoint);
}

function evaluateFacts(
  world: World,
  presented: Presented,
  entry: KeyEntry | undefined,
  endpoint: Endpoint,
): Evaluation {
  const scope = scopeOf(endpoint, world);
  const facts = authorizationFacts(world, presented, entry, scope, world.clock.now());
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
