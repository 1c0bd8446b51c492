import { maximumConsentTime } from "../../spec/consent.js";
import { outcomeOf, type PathId } from "../../spec/outcomes.js";
import type { Path } from "../../spec/schema/shape.js";
import { quote } from "../../spec/schema/words.js";
import type { Scenario } from "../scenario.generated.js";
import { checkRef, earlyTime, type Facts, type ScenarioRule, type Wrong } from "./facts.js";

const defaultFarmers = 1000;

/** The times of every consent request, and of the decisions before the clock starts, fit each other. */
export const consentsFit: ScenarioRule = (facts) => {
  const { scenario, fromStart, wrong } = facts;
  for (const [index, consent] of (scenario.consents ?? []).entries()) {
    const path = ["consents", index];
    const { organization, farmer, permissions = [], decisions = [] } = consent;
    const { created_at: created = "0s", expires_at: expires } = consent;
    needsAnnounced(path, facts);
    checkRef("organization", organization, [...path, "organization"], facts);
    farmerExists(farmer, [...path, "farmer"], facts);
    const contradiction = (at: Path, message: string, hint: string) =>
      wrong("consent_contradiction", [...path, ...at], message, hint);
    const twice = permissions.findIndex((one, position) => permissions.indexOf(one) < position);
    if (twice !== -1) {
      contradiction(["permissions", twice], `${permissions[twice]} is listed twice`, "list it once");
    }
    const lasts = (fromStart(expires) ?? Number.NaN) - (fromStart(created) ?? Number.NaN);
    if (lasts <= 0 || lasts > maximumConsentTime) {
      const message = `the consent does not end in the 365 days after it is created (${expires})`;
      contradiction(["expires_at"], message, "write another time");
    }
    const early = earlyTime([created, ...decisions.map(({ at }) => at), "0s"], fromStart);
    if (early === -1) continue;
    const at = Math.min(early, decisions.length) - 1;
    const message = "the request, its decisions and the start of the clock do not follow each other";
    const where = at === -1 ? ["created_at"] : ["decisions", at, "at"];
    contradiction(where, message, "sort the decisions by time, all before the clock starts");
  }
};

export type Served = { readonly scenario: Pick<Scenario, "preview" | "openapi">; readonly wrong: Wrong };

/** The announced endpoints are on (R49). */
export function needsAnnounced(path: Path, { scenario, wrong }: Served, what = "consent requests need") {
  if (scenario.preview === true) return;
  const message = `${what} the preview of the announced endpoints`;
  wrong("preview_off", path, message, "write preview: true at the top level");
}

/** An outcome that released endpoints do not have needs announced ones, or a document if it is about input. */
export function servesPath(pathId: PathId, path: Path, served: Served): void {
  const { needs } = outcomeOf(pathId);
  if (needs === undefined || (needs === "input" && served.scenario.openapi !== undefined)) return;
  needsAnnounced(path, served, `${quote(pathId)} needs`);
}

export function farmerExists(farmer: number, path: Path, { scenario, wrong }: Facts): void {
  const count = scenario.population?.farmers ?? defaultFarmers;
  if (farmer < count) return;
  const message = `there is no farmer ${farmer}: the scenario has ${count}, starting at 0`;
  const hint = count === 0 ? "write population: { farmers: 10 }" : `write a number up to ${count - 1}`;
  wrong("unknown_farmer", path, message, hint);
}
