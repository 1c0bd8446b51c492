import { membersToSnakeCase } from "../schema/spelling.js";
import type { Learned } from "./assumptions/assumptions.js";
import type { Comparison } from "./comparison.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import type { OpenPlace } from "./rejections/judge-places.js";
import { whyPlaceIsOpen } from "./rejections/rejection-words.js";

/** Returns a comparison with the names and the order of `--json`. */
export function comparisonJson(comparison: Comparison): object {
  const { url, comparedAt, requests, maxRequests, whyNotCompared, endedBy, notes } = comparison;
  const json = {
    url,
    comparedAt,
    requests,
    maxRequests,
    whyNotCompared,
    endedBy,
    notes,
    verdict: comparison.verdict,
    outcomes: comparison.outcomes,
    uncompared: comparison.openCauses,
    unjudged: comparison.openPlaces.map(openPlaceJson),
    assumptions: assumptionsJson(comparison.assumptions),
    unseen: comparison.unseenAssumptions,
    seen: comparison.unlikeKeyStates,
    differences: comparison.differences.map(differenceJson),
  };
  // An object stays an object.
  return membersToSnakeCase(json) as object;
}

function openPlaceJson({ place, causes }: OpenPlace): object {
  return { at: place.name, why: whyPlaceIsOpen, outcomes: causes };
}

function differenceJson(difference: ContractDifference): object {
  const { laterRequest, requestId, ...content } = difference;
  return { ...content, request: laterRequest, requestId };
}

function assumptionsJson(assumptions: Learned["assumptions"]): object {
  const json: Record<string, object> = {};
  for (const [name, { value, from, missingResponses }] of Object.entries(assumptions)) {
    const notSeen = missingResponses.length === 0 ? undefined : missingResponses;
    json[name] = { value, from, notSeen };
  }
  return json;
}
