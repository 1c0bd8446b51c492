import { consentLifeFindings } from "./consent-life-rules.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { quote } from "./quote.js";
import { knownRefsHint } from "./ref-rules.js";
import type { Scenario } from "./scenario.generated.js";
import { storyPlaceholder } from "./story-placeholder.js";
import type { ScenarioRule, WorldFacts } from "./world-facts.js";

type Consent = NonNullable<Scenario["consents"]>[number];
type ConsentAction = NonNullable<NonNullable<Scenario["story"]>[number]["consent"]>;

/** How many farmers there are when a scenario does not say. */
const defaultFarmers = 1000;

/** Every consent request of a scenario can have been made and come so far as it says. */
export const consentsFit: ScenarioRule = (facts) => {
  const keys = new Set<string>();
  return facts.consents.flatMap(({ fields, path }) => [
    ...previewFindings(path, facts),
    ...partyFindings(fields, path, facts),
    ...consentLifeFindings(fields, path, facts),
    ...repeatFindings(fields, path, keys),
  ]);
};

/** What is wrong with what a farmer does in a step. */
export function consentFindings(action: ConsentAction, path: Path, facts: WorldFacts): Finding[] {
  return [...previewFindings(path, facts), ...partyFindings(action, path, facts)];
}

/** What is wrong with what stands for ids in the path and the body of a story's request. */
export function placeholderFindings(
  request: { readonly path?: string; readonly body?: unknown },
  at: Path,
  facts: WorldFacts,
): Finding[] {
  return (["path", "body"] as const).flatMap((name): Finding[] => {
    const text = request[name] === undefined ? "" : JSON.stringify(request[name]);
    const path = [...at, name];
    const [first] = [...text.matchAll(storyPlaceholder)].map(([whole, kind, digits]): Finding[] => {
      if (!facts.preview)
        return previewFindings(path, facts, `${whole} stands for nothing without the preview`);
      if (kind === "farmer") return farmerFindings(Number(digits), path, facts);
      if (Number(digits) > 0) return [];
      const message = `there is no ${whole}: the first one is {${kind}.1}`;
      return [{ code: "consent_contradiction", path, message, hint: `count from 1, as in {${kind}.1}` }];
    });
    return first ?? [];
  });
}

function previewFindings(
  path: Path,
  { preview }: WorldFacts,
  message = "there are no consent requests without the preview of the announced endpoints",
): Finding[] {
  if (preview) return [];
  return [{ code: "preview_off", path, message, hint: "write preview: true at the top level" }];
}

function partyFindings(
  { organization, farmer }: Pick<ConsentAction, "organization" | "farmer">,
  path: Path,
  facts: WorldFacts,
): Finding[] {
  const findings = farmerFindings(farmer, [...path, "farmer"], facts);
  if (organization === undefined || facts.organizations.has(organization) || !facts.refsAreCertain)
    return findings;
  findings.push({
    code: "unknown_organization_ref",
    path: [...path, "organization"],
    message: `there is no organization ${quote(organization)}`,
    hint: knownRefsHint(organization, facts.organizations, "organizations"),
  });
  return findings;
}

function farmerFindings(farmer: number, path: Path, { population, refsAreCertain }: WorldFacts): Finding[] {
  const count = population?.farmers ?? defaultFarmers;
  if (farmer < count || !refsAreCertain) return [];
  const message = `there is no farmer ${farmer}: the scenario has ${count}, counted from 0`;
  const hint = count === 0 ? "write population: { farmers: 10 }" : `write a number up to ${count - 1}`;
  return [{ code: "unknown_farmer", path, message, hint }];
}

function repeatFindings(
  { organization, permissions = [], idempotency }: Consent,
  path: Path,
  keys: Set<string>,
): Finding[] {
  const findings: Finding[] = [];
  const twice = permissions.findIndex((one, index) => permissions.indexOf(one) < index);
  if (twice !== -1) {
    findings.push({
      code: "consent_contradiction",
      path: [...path, "permissions", twice],
      message: `${permissions[twice]} is there already`,
      hint: "list it once",
    });
  }
  if (idempotency === undefined) return findings;
  const key = JSON.stringify([organization, idempotency.key]);
  if (keys.has(key)) {
    findings.push({
      code: "consent_contradiction",
      path: [...path, "idempotency", "key"],
      message: "another request of the organization was made with this key",
      hint: "write another key",
    });
  }
  keys.add(key);
  return findings;
}
