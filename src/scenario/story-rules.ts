import { actionNames, stepKinds } from "../domain/steps.js";
import { placeholderFindings } from "./consent-rules.js";
import { expectationFindings } from "./expect-rules.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { quote } from "./quote.js";
import { isReserved } from "./ref.js";
import type { Scenario } from "./scenario.generated.js";
import type { StepKeys } from "./step-keys.js";
import {
  actionFindings,
  addKeyMade,
  keyFindings,
  oneThingFindings,
  reservedRefFindings,
} from "./step-rules.js";
import { keysOfTimeline } from "./timeline-rules.js";
import type { ScenarioRule, WorldFacts } from "./world-facts.js";

type StoryFields = NonNullable<Scenario["story"]>[number];

/** Each step of the story does one thing, to what is there by then, and expects what can come of it. */
export const storyFits: ScenarioRule = (facts) => {
  const keys = keysOfTimeline(facts);
  let faultsArePossible =
    facts.faults.length > 0 || facts.timeline.some(({ fields }) => fields.faults?.length);
  return facts.story.flatMap(({ fields, path }) => {
    if (fields.faults !== undefined && fields.faults.length > 0) faultsArePossible = true;
    const findings = oneThingFindings(fields, stepKinds, path);
    if (findings.length === 0) {
      findings.push(
        ...actionFindings(fields, path, keys, facts),
        ...requestFindings(fields, path, keys, facts),
        ...misplacedExpectations(fields, path),
      );
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

function keyInfo(ref: string | undefined, keys: StepKeys) {
  if (ref === undefined) return undefined;
  return isReserved(ref) ? { reserved: ref } : { ref, ...keys.get(ref) };
}

function requestFindings({ request }: StoryFields, path: Path, keys: StepKeys, facts: WorldFacts): Finding[] {
  if (request === undefined) return [];
  const at = [...path, "request"];
  const findings: Finding[] = [];
  const { key, headers = {} } = request;
  findings.push(...placeholderFindings(request, at, facts));
  if (key !== undefined && !isReserved(key)) {
    findings.push(...keyFindings(key, [...at, "key"], keys, facts));
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

function misplacedExpectations({ expect, ...step }: StoryFields, path: Path): Finding[] {
  if (expect === undefined) return [];
  const thing = stepKinds.find((name) => Object.hasOwn(step, name)) ?? "say";
  const allowed =
    thing === "request" ? ["status", "code", "path", "headers", "body"] : isRefusable(thing) ? ["error"] : [];
  const names = Object.keys(expect);
  const wrong = names.find((name) => !allowed.includes(name));
  if (wrong === undefined && names.length > 0) return [];
  if (wrong === undefined) {
    const hint = allowed.length === 0 ? "remove it" : `give it ${allowed.join(", ")}, or remove it`;
    return [{ code: "missing_field", path: [...path, "expect"], message: "expect says nothing", hint }];
  }
  return [
    {
      code: "step_contradiction",
      path: [...path, "expect", wrong],
      aim: "key",
      message: `${quote(wrong)} cannot be expected of ${quote(thing)}`,
      hint:
        allowed.length === 0
          ? `nothing can be expected of ${quote(thing)}: remove it, or give it to a request`
          : `what can be expected of ${quote(thing)}: ${allowed.join(", ")}`,
    },
  ];
}

function isRefusable(thing: string): boolean {
  return (actionNames as readonly string[]).includes(thing);
}
