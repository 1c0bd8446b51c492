import { consentsFit } from "./consent-rules.js";
import { faultsFit } from "./fault-rules.js";
import type { Finding } from "./finding.js";
import { activeKeysWithinLimit, expiryFitsState, scopesAreKnown, usageAddsUp } from "./key-rules.js";
import { populatedRefsAreFree } from "./population-rules.js";
import {
  defaultKeyExists,
  keyRefsAreUnique,
  organizationIdsAreUnique,
  someOrganization,
} from "./ref-rules.js";
import {
  overlapFitsState,
  replacementFits,
  replacementIsFound,
  replacementsAreNotShared,
  replacementsEnd,
} from "./rotation-rules.js";
import { secretFitsKey, secretOrHash, secretsAreUnique } from "./secret-rules.js";
import { keyRefsAreFree, storyFits } from "./story-rules.js";
import { timelineFits, timelineIsInOrder } from "./timeline-rules.js";
import { type Extended, factsOf, type ScenarioRule } from "./world-facts.js";

const rules: readonly ScenarioRule[] = [
  someOrganization,
  organizationIdsAreUnique,
  keyRefsAreUnique,
  populatedRefsAreFree,
  defaultKeyExists,
  scopesAreKnown,
  usageAddsUp,
  expiryFitsState,
  activeKeysWithinLimit,
  secretFitsKey,
  secretOrHash,
  secretsAreUnique,
  replacementIsFound,
  replacementFits,
  replacementsAreNotShared,
  replacementsEnd,
  overlapFitsState,
  faultsFit,
  consentsFit,
  keyRefsAreFree,
  timelineFits,
  timelineIsInOrder,
  storyFits,
];

/**
 * Everything in which a scenario contradicts itself or a rule of the specification.
 *
 * `known` is what is already said to be wrong with its shape: no rule looks at those fields, so that one mistake
 * is not reported twice in different words. `extended` is given when the value was laid over another scenario.
 */
export function findContradictions(
  value: unknown,
  known: readonly Finding[],
  extended?: Extended,
): Finding[] {
  const facts = factsOf(value, known, extended);
  return rules.flatMap((rule) => rule(facts));
}
