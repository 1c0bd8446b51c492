import {
  type ConsentTransition,
  consentActions,
  consentHistory,
  defaultConsentTime,
  effectiveDecisions,
  maximumConsentTime,
} from "../domain/consent.js";
import { personaOf } from "../domain/farmer.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import type { Scenario } from "./scenario.generated.js";
import { parseTime } from "./when.js";
import { fromStart, type WorldFacts } from "./world-facts.js";

type Consent = NonNullable<Scenario["consents"]>[number];

/** What is wrong with the times of a consent request, or with what was done at them. */
export function consentLifeFindings(fields: Consent, path: Path, facts: WorldFacts): Finding[] {
  const findings = timeFindings(fields, path, facts);
  return findings.length > 0 ? findings : deedFindings(fields, path, facts);
}

// Whether each deed can be done when it is: what the farmer does by itself, and what time does, comes in between.
function deedFindings(fields: Consent, path: Path, facts: WorldFacts): Finding[] {
  const { farmer, created_at: created, expires_at: expires, deeds = [] } = fields;
  const since = (text: string | undefined) => between(undefined, text, facts);
  const createdAt = created === undefined ? 0 : since(created);
  const expiresAt = expires === undefined ? (createdAt ?? 0) + defaultConsentTime : since(expires);
  const times = deeds.map(({ at }) => since(at));
  if (createdAt === undefined || expiresAt === undefined || times.includes(undefined)) return [];
  const done = deeds.map(({ do: action }, index) => ({ at: times[index] as number, action }));
  const record = { createdAt, expiresAt, persona: personaOf(facts.seed, farmer), decisions: done };
  const effective = effectiveDecisions(record);
  const index = done.findIndex((deed) => !effective.includes(deed));
  const vain = done[index];
  if (vain === undefined) return [];
  const before = consentHistory({ ...record, decisions: done.slice(0, index) }, vain.at);
  const { status } = before.at(-1) as ConsentTransition;
  const from = consentActions[vain.action].from.join(" or ");
  const message = `by then the request is ${status}, and ${vain.action} is for one that is ${from}`;
  const hint = "write another time, or leave it out";
  return [{ code: "consent_contradiction", path: [...path, "deeds", index], message, hint }];
}

function timeFindings(fields: Consent, path: Path, facts: WorldFacts): Finding[] {
  const findings: Finding[] = [];
  const wrong = (at: Path, message: string, hint: string) =>
    findings.push({ code: "consent_contradiction", path: [...path, ...at], message, hint });
  const { created_at: created, expires_at: expires, deeds = [] } = fields;
  if ((fromStart(created, facts) ?? 0) > 0) {
    wrong(["created_at"], `the request is made after the clock starts (${created})`, "write an earlier time");
  }
  const lasts = between(created, expires, facts);
  if (lasts !== undefined && (lasts <= 0 || lasts > maximumConsentTime)) {
    const [message, hint] =
      lasts <= 0
        ? (["ends no later than it is made", "write a later time"] as const)
        : (["lasts longer than 365 days", "write an earlier time"] as const);
    wrong(["expires_at"], `the consent ${message} (${expires})`, hint);
  }
  let latest = created;
  for (const [index, { at }] of deeds.entries()) {
    const place = ["deeds", index, "at"];
    if ((fromStart(at, facts) ?? 0) > 0) {
      wrong(place, `this would be after the clock starts (${at})`, "let the timeline or the story do it");
    } else if ((between(latest, at, facts) ?? 0) < 0) {
      wrong(place, `this is earlier (${at}) than what comes before it`, "put it in the order of the times");
    } else latest = at;
  }
  return findings;
}

// Milliseconds from one time to another; what is left out is when the clock starts.
function between(from: string | undefined, to: string | undefined, facts: WorldFacts): number | undefined {
  if (to === undefined) return undefined;
  const [one, other] = [from === undefined ? undefined : parseTime(from), parseTime(to)];
  if (one !== undefined && other !== undefined) return other - one;
  const [begins, ends] = [from === undefined ? 0 : fromStart(from, facts), fromStart(to, facts)];
  return begins === undefined || ends === undefined ? undefined : ends - begins;
}
