import { actionNames } from "../domain/steps.js";
import { doomedFindings } from "./doomed-steps.js";
import type { Finding } from "./finding.js";
import { addKeyMade, keysAtStart, makersOf, type StepKeys } from "./step-keys.js";
import { actionFindings, type MadeLater, oneThingFindings } from "./step-rules.js";
import { parseTime } from "./when.js";
import { fromStart, type ItemFacts, type ScenarioRule, type WorldFacts } from "./world-facts.js";

/** Each step of the timeline does one thing, to what is there by then. */
export const timelineFits: ScenarioRule = (facts) => {
  const keys = keysAtStart(facts);
  const madeLater = madeByTimeline(facts);
  // What the story makes may be there by the time.
  for (const { fields } of facts.story) addKeyMade(fields, keys, true);
  return facts.timeline.flatMap(({ fields, path }) => {
    const findings = oneThingFindings(fields, actionNames, path);
    if (findings.length === 0) {
      findings.push(...actionFindings(fields, path, keys, facts, madeLater));
    }
    if (findings.length === 0) findings.push(...doomedFindings(fields, path, keys));
    // A refused step stops nothing: whether the steps before this one were done is not certain.
    addKeyMade(fields, keys, true);
    return facts.isSnapshot ? findings.filter(({ code }) => !comesToNothing.includes(code)) : findings;
  });
};

// What was done to the world of a snapshot may have left steps of its timeline that come to nothing.
const comesToNothing: readonly Finding["code"][] = [
  "unknown_key_ref",
  "unknown_organization_ref",
  "cannot_happen",
  "duplicate_key_ref",
];

function madeByTimeline(facts: WorldFacts): MadeLater {
  let makers: ReturnType<typeof makersOf<ItemFacts<"timeline">>> | undefined;
  return (ref) => {
    makers ??= makersOf(facts.timeline, keysAtStart(facts));
    const maker = makers.get(ref);
    return maker && `the timeline makes it at ${maker.fields.at}: put this step after that one`;
  };
}

/** The steps of the timeline stand in the order in which they happen, after the start of the clock. */
export const timelineIsInOrder: ScenarioRule = (facts) => {
  const findings: Finding[] = [];
  let latest: string | undefined;
  for (const { fields, path } of facts.timeline) {
    const at = [...path, "at"];
    const begins = fromStart(fields.at, facts);
    if (begins !== undefined && begins < 0) {
      const message = `this would be before the clock starts (${fields.at})`;
      findings.push({
        code: "timeline_order",
        path: at,
        message,
        hint: "write a later time, or describe the world as it is at the start",
      });
      continue;
    }
    if (latest !== undefined && isEarlier(fields.at, latest, facts)) {
      const message = `the step is earlier (${fields.at}) than the one before it (${latest})`;
      findings.push({
        code: "timeline_order",
        path: at,
        message,
        hint: "put the steps in the order of their times",
      });
    } else latest = fields.at;
  }
  return findings;
};

/** The keys that a story can find: those of the start, and those that the timeline makes. */
export function keysOfTimeline(facts: WorldFacts): StepKeys {
  const keys = keysAtStart(facts);
  for (const { fields } of facts.timeline) addKeyMade(fields, keys, true);
  return keys;
}

function isEarlier(one: string, other: string, facts: WorldFacts): boolean {
  // Two times can be compared wherever the clock starts.
  const [oneTime, otherTime] = [parseTime(one), parseTime(other)];
  if (oneTime !== undefined && otherTime !== undefined) return oneTime < otherTime;
  const [oneStart, otherStart] = [fromStart(one, facts), fromStart(other, facts)];
  return oneStart !== undefined && otherStart !== undefined && oneStart < otherStart;
}
