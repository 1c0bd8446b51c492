import { stepKinds } from "../domain/steps.js";
import { placeholderFindings } from "./consent-rules.js";
import { doomedFindings, markEnd } from "./doomed-steps.js";
import { misplacedExpectations } from "./expect-place.js";
import { expectationFindings } from "./expect-rules.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { placeholderSlips } from "./placeholder-slips.js";
import { isReserved } from "./ref.js";
import type { Scenario } from "./scenario.generated.js";
import { addKeyMade, makersOf, type StepKeys } from "./step-keys.js";
import {
  actionFindings,
  keyFindings,
  type MadeLater,
  oneThingFindings,
  reservedRefFindings,
} from "./step-rules.js";
import { keysOfTimeline } from "./timeline-rules.js";
import type { ItemFacts, ScenarioRule, WorldFacts } from "./world-facts.js";

type StoryFields = NonNullable<Scenario["story"]>[number];

/** Each step of the story does one thing, to what is there by then, and expects what can come of it. */
export const storyFits: ScenarioRule = (facts) => {
  const keys = keysOfTimeline(facts);
  const madeLater = madeByStory(facts);
  let faultsArePossible =
    facts.faults.length > 0 || facts.timeline.some(({ fields }) => fields.faults?.length);
  return facts.story.flatMap(({ fields, path }) => {
    if (fields.faults !== undefined && fields.faults.length > 0) faultsArePossible = true;
    const findings = oneThingFindings(fields, stepKinds, path);
    if (findings.length === 0) {
      findings.push(
        ...actionFindings(fields, path, keys, facts, madeLater),
        ...requestFindings(fields, path, keys, facts, madeLater),
        ...misplacedExpectations(fields, path),
      );
      if (findings.length === 0) findings.push(...doomedFindings(fields, path, keys));
      if (findings.length === 0) markEnd(fields, `step ${stepNumber(path)}`, keys, facts);
      if (findings.length === 0 && fields.request !== undefined && fields.expect !== undefined) {
        const known = {
          key: keyInfo(fields.request.key ?? facts.defaultKey, keys),
          faultsArePossible: Boolean(faultsArePossible),
          preview: facts.preview,
          rateLimitCode: facts.resolvedAssumptions.rate_limit_code,
        };
        findings.push(...expectationFindings(fields.request, fields.expect, [...path, "expect"], known));
      }
    }
    addKeyMade(fields, keys);
    return findings;
  });
};

/** No key has a ref by which stories mean something else. */
export const keyRefsAreFree: ScenarioRule = ({ keys }) =>
  keys.flatMap(({ ref, path }) => reservedRefFindings(ref, path, "key"));

function madeByStory(facts: WorldFacts): MadeLater {
  let makers: ReturnType<typeof makersOf<ItemFacts<"story">>> | undefined;
  return (ref) => {
    makers ??= makersOf(facts.story, keysOfTimeline(facts));
    const maker = makers.get(ref);
    return maker && `step ${stepNumber(maker.path)} makes it: put this one after that`;
  };
}

function stepNumber(path: Path): number {
  return Number(path[1]) + 1;
}

function keyInfo(ref: string | undefined, keys: StepKeys) {
  if (ref === undefined) return undefined;
  return isReserved(ref) ? { reserved: ref } : { ref, ...keys.get(ref) };
}

function requestFindings(
  { request }: StoryFields,
  path: Path,
  keys: StepKeys,
  facts: WorldFacts,
  madeLater: MadeLater,
): Finding[] {
  if (request === undefined) return [];
  const at = [...path, "request"];
  const findings: Finding[] = [];
  const { key, headers = {} } = request;
  findings.push(...placeholderFindings(request, at, facts), ...placeholderSlips(request, at, facts));
  if (key !== undefined && !isReserved(key)) {
    findings.push(...keyFindings(key, [...at, "key"], keys, facts, madeLater));
  }
  for (const name of Object.keys(headers)) {
    if (name.toLowerCase() !== "x-api-key") continue;
    findings.push({
      code: "step_contradiction",
      path: [...at, "headers", name],
      aim: "key",
      message: "the key of a request is not written as a header",
      hint: "name the key with key: a ref, none, malformed or unknown",
    });
  }
  return findings;
}
