import { consentFindings } from "./consent-rules.js";
import { parseDuration } from "./duration.js";
import { faultFindings } from "./fault-rules.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { listed, quote } from "./quote.js";
import { isReserved, type ReservedKeyRef } from "./ref.js";
import { knownRefsHint, populationHint } from "./ref-rules.js";
import type { ActionFields, StepKeys } from "./step-keys.js";
import type { WorldFacts } from "./world-facts.js";

/** Which later step makes the key of a ref, as a hint; `undefined` when none does. */
export type MadeLater = (ref: string) => string | undefined;

/** What is wrong when a step does nothing, or several things. */
export function oneThingFindings(fields: object, things: readonly string[], path: Path): Finding[] {
  const chosen = Object.keys(fields).filter((name) => things.includes(name));
  if (chosen.length === 1) return [];
  if (chosen.length === 0) {
    const message = "the step does nothing";
    return [{ code: "missing_field", path, message, hint: `give it one of ${listed(things, "or")}` }];
  }
  const [first, second] = chosen as [string, string];
  return [
    {
      code: "step_contradiction",
      path: [...path, second],
      aim: "key",
      message: `a step does one thing, and this one has ${first} and ${second}`,
      hint: `make two steps of it, ${quote(first)} first`,
    },
  ];
}

/** What is wrong with what an action refers to, where these keys are. */
export function actionFindings(
  action: ActionFields,
  path: Path,
  keys: StepKeys,
  facts: WorldFacts,
  madeLater: MadeLater,
): Finding[] {
  const { create_key: created, rotate, revoke, organization, consent, faults } = action;
  const findings: Finding[] = [];
  const key = (ref: string, at: string) =>
    findings.push(...keyFindings(ref, [...path, at, "key"], keys, facts, madeLater));
  if (created !== undefined) {
    findings.push(
      ...organizationFindings(created.organization, [...path, "create_key", "organization"], facts),
    );
    findings.push(...reservedFindings(created.ref, [...path, "create_key", "ref"]));
  }
  if (rotate !== undefined) {
    key(rotate.key, "rotate");
    findings.push(...reservedFindings(rotate.as, [...path, "rotate", "as"]));
  }
  if (revoke !== undefined) key(revoke.key, "revoke");
  if (organization !== undefined) {
    findings.push(...organizationFindings(organization.ref, [...path, "organization", "ref"], facts));
    findings.push(...changeFindings(organization, [...path, "organization"]));
  }
  if (consent !== undefined) findings.push(...consentFindings(consent, [...path, "consent"], facts));
  const surroundings = {
    keys,
    organizations: facts.organizations,
    preview: facts.preview,
    // When the step happens need not be known: durations are compared with each other alone.
    fromStart: (text: string) => parseDuration(text),
  };
  for (const [index, fault] of (faults ?? []).entries()) {
    findings.push(
      ...faultFindings(fault, [...path, "faults", index], surroundings).filter(
        ({ code }) => isCertain(facts) || !code.startsWith("unknown_"),
      ),
    );
  }
  return findings;
}

/** What is wrong with a key's ref in a step, where these keys are; `madeLater` says which later step makes it. */
export function keyFindings(
  ref: string,
  path: Path,
  keys: StepKeys,
  facts: WorldFacts,
  madeLater: MadeLater,
): Finding[] {
  if (keys.has(ref) || !isCertain(facts)) return [];
  const message = `there is no key ${quote(ref)} at this step`;
  const hint = madeLater(ref) ?? populationHint(ref, facts) ?? knownRefsHint(ref, keys, "keys");
  return [{ code: "unknown_key_ref", path, message, hint }];
}

function isCertain({ refsAreCertain, stepsAreCertain }: WorldFacts): boolean {
  return refsAreCertain && stepsAreCertain;
}

function organizationFindings(ref: string, path: Path, facts: WorldFacts): Finding[] {
  if (facts.organizations.has(ref) || !isCertain(facts)) return [];
  const hint = populationHint(ref, facts) ?? knownRefsHint(ref, facts.organizations, "organizations");
  return [
    { code: "unknown_organization_ref", path, message: `there is no organization ${quote(ref)}`, hint },
  ];
}

function changeFindings({ ref: _, ...changes }: object & { ref: string }, path: Path): Finding[] {
  if (Object.keys(changes).length > 0) return [];
  const hint = "give it one of status, sandbox_access or live_access";
  return [{ code: "missing_field", path, message: "the step changes nothing about the organization", hint }];
}

function reservedFindings(ref: string | undefined, path: Path): Finding[] {
  return ref === undefined ? [] : reservedRefFindings(ref, path, "value");
}

const meaningOf: Readonly<Record<ReservedKeyRef, string>> = {
  none: "no key",
  malformed: "a malformed key",
  unknown: "a key that nobody holds",
};

/** What is wrong with a ref that a key cannot have, because stories mean something else by it. */
export function reservedRefFindings(ref: string, path: Path, aim: "key" | "value"): Finding[] {
  if (!isReserved(ref)) return [];
  const message = `no key can be called ${quote(ref)}: in a story it stands for ${meaningOf[ref]}`;
  return [{ code: "reserved_key_ref", path, aim, message, hint: `call it ${ref}-key` }];
}
