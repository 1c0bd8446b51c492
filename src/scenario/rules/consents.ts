import {
  type ConsentTransition,
  consentActions,
  consentHistory,
  defaultConsentTime,
  effectiveDecisions,
  maximumConsentTime,
  personaOf,
} from "../../spec/consent.js";
import type { Path } from "../../spec/schema/shape.js";
import { defaultSeed } from "../../spec/seed.js";
import type { Scenario } from "../scenario.generated.js";
import { between, checkRef, type Facts, type ScenarioRule } from "./facts.js";

// Consent requests, and the decisions about them before the clock starts.

type Consent = NonNullable<Scenario["consents"]>[number];

/** The number of farmers by default. */
const defaultFarmers = 1000;

/** Every consent request and its decisions are possible. */
export const consentsFit: ScenarioRule = (facts) => {
  const { scenario, wrong } = facts;
  const keys = new Set<string>();
  for (const [index, consent] of (scenario.consents ?? []).entries()) {
    const path = ["consents", index];
    const { organization, farmer, permissions = [], idempotency } = consent;
    needsPreview(path, facts);
    checkRef("organization", organization, [...path, "organization"], facts);
    farmerExists(farmer, [...path, "farmer"], facts);
    const contradiction = (at: Path, message: string, hint: string) =>
      wrong("consent_contradiction", [...path, ...at], message, hint);
    const twice = permissions.findIndex((one, position) => permissions.indexOf(one) < position);
    if (twice !== -1) {
      contradiction(["permissions", twice], `${permissions[twice]} is listed twice`, "list it once");
    }
    const key = idempotency && JSON.stringify([organization, idempotency.key]);
    if (key !== undefined && keys.size === keys.add(key).size) {
      const message = "another request of the organization has this key";
      contradiction(["idempotency", "key"], message, "write another key");
    }
    if (timesFit(consent, facts, contradiction)) decisionsFit(consent, facts, contradiction);
  }
};

/** Reports a use of the preview in a scenario without the preview. */
export function needsPreview(path: Path, { scenario, wrong }: Facts): void {
  if (scenario.preview === true) return;
  const message = "consent requests need the preview of the announced endpoints";
  wrong("preview_off", path, message, "write preview: true at the top level");
}

/** Reports the number of a farmer that does not exist. */
export function farmerExists(farmer: number, path: Path, { scenario, wrong }: Facts): void {
  const count = scenario.population?.farmers ?? defaultFarmers;
  if (farmer < count) return;
  const message = `there is no farmer ${farmer}: the scenario has ${count}, starting at 0`;
  const hint = count === 0 ? "write population: { farmers: 10 }" : `write a number up to ${count - 1}`;
  wrong("unknown_farmer", path, message, hint);
}

type Contradiction = (at: Path, message: string, hint: string) => void;

function timesFit(
  { created_at: created, expires_at: expires, decisions = [] }: Consent,
  { scenario, fromStart }: Facts,
  contradiction: Contradiction,
): boolean {
  let fits = true;
  const wrong: Contradiction = (...problem) => {
    fits = false;
    contradiction(...problem);
  };
  const now = scenario.clock?.now;
  if ((fromStart(created) ?? 0) > 0) {
    wrong(
      ["created_at"],
      `the request is created after the clock starts (${created})`,
      "write an earlier time",
    );
  }
  const lasts = between(created, expires, now) ?? 1;
  if (lasts <= 0) {
    wrong(["expires_at"], `the consent must end after it is created, not ${expires}`, "write a later time");
  } else if (lasts > maximumConsentTime) {
    wrong(["expires_at"], `the consent lasts longer than 365 days (${expires})`, "write an earlier time");
  }
  let latest = created;
  for (const [index, { at }] of decisions.entries()) {
    const path = ["decisions", index, "at"];
    if ((fromStart(at) ?? 0) > 0) {
      wrong(path, `the decision is after the clock starts (${at})`, "move it to the timeline or the story");
    } else if ((between(latest, at, now) ?? 0) < 0) {
      wrong(path, `the decision is earlier (${at}) than the one before it`, "sort the decisions by time");
    } else latest = at;
  }
  return fits;
}

// Whether each decision is possible at its time, after the farmer's automatic decisions and expiry.
function decisionsFit(consent: Consent, { scenario, fromStart }: Facts, contradiction: Contradiction): void {
  const { farmer, created_at: created, expires_at: expires, decisions = [] } = consent;
  const createdAt = created === undefined ? 0 : fromStart(created);
  const expiresAt = expires === undefined ? (createdAt ?? 0) + defaultConsentTime : fromStart(expires);
  const times = decisions.map(({ at }) => fromStart(at));
  if (createdAt === undefined || expiresAt === undefined || times.includes(undefined)) return;
  const done = decisions.map(({ do: action }, index) => ({ at: times[index] as number, action }));
  const persona = personaOf(scenario.seed ?? defaultSeed, farmer);
  const record = { createdAt, expiresAt, persona, decisions: done };
  const effective = effectiveDecisions(record);
  const index = done.findIndex((one) => !effective.includes(one));
  const vain = done[index];
  if (vain === undefined) return;
  const before = consentHistory({ ...record, decisions: done.slice(0, index) }, vain.at);
  const { status } = before.at(-1) as ConsentTransition;
  const from = consentActions[vain.action].from.join(" or ");
  const message = `by then the request is ${status}, and ${vain.action} requires ${from}`;
  contradiction(["decisions", index], message, "write another time, or remove it");
}
