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
import { listed, quote } from "../../spec/schema/words.js";
import { defaultSeed } from "../../spec/seed.js";
import { type ActionName, actionNames, stepKinds } from "../../spec/steps.js";
import { isReserved, parseDate } from "../format/fields.js";
import type { Scenario } from "../scenario.generated.js";
import { checkRef, type Facts, type ScenarioRule, timeBetween } from "./facts.js";

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
function needsPreview(path: Path, { scenario, wrong }: Facts): void {
  if (scenario.preview === true) return;
  const message = "consent requests need the preview of the announced endpoints";
  wrong("preview_off", path, message, "write preview: true at the top level");
}

/** Reports the number of a farmer that does not exist. */
function farmerExists(farmer: number, path: Path, { scenario, wrong }: Facts): void {
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
  const lasts = timeBetween(created, expires, now) ?? 1;
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
    } else if ((timeBetween(latest, at, now) ?? 0) < 0) {
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

type StoryStep = NonNullable<Scenario["story"]>[number];
type Action = Pick<StoryStep, ActionName>;

// Problems of single steps. Only a run shows whether a step has its expected result.

/** The steps of the timeline are sorted by time, after the start of the clock. */
const timelineIsInOrder: ScenarioRule = ({ scenario, fromStart, wrong }) => {
  let latest: string | undefined;
  for (const [index, { at }] of (scenario.timeline ?? []).entries()) {
    const path = ["timeline", index, "at"];
    if ((fromStart(at) ?? 0) < 0) {
      const hint = "write a later time, or describe the state at the start";
      wrong("timeline_order", path, `the step is before the clock starts (${at})`, hint);
    } else if (latest !== undefined && (timeBetween(latest, at, scenario.clock?.now) ?? 0) < 0) {
      const message = `the step is earlier (${at}) than the one before it (${latest})`;
      wrong("timeline_order", path, message, "sort the steps by time");
    } else latest = at;
  }
};

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
const stepsFit: ScenarioRule = (facts) => {
  const { timeline = [], story = [], requests_answered: answered } = facts.scenario;
  const made = [...timeline, ...story].flatMap(({ create_key: created, rotate }) => [
    ...(created ? [created.ref] : []),
    ...(rotate ? [rotate.as] : []),
  ]);
  const keyExists: KeyExists = (ref, path) => {
    // A step may create a key without a ref; only a run shows its ref.
    if (!made.includes(undefined) && !made.includes(ref)) checkRef("key", ref, path, facts);
  };
  for (const [index, step] of timeline.entries()) {
    const path = ["timeline", index];
    const doesOne = doesOneThing(step, actionNames, path, facts);
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    if (doesOne && answered === undefined) actionFits(step, path, keyExists, facts);
  }
  for (const [index, step] of story.entries()) {
    const path = ["story", index];
    if (!doesOneThing(step, stepKinds, path, facts)) continue;
    actionFits(step, path, keyExists, facts);
    requestFits(step, [...path, "request"], keyExists, facts);
    expectationFits(step, path, facts);
  }
};

type KeyExists = (ref: string | undefined, path: Path) => void;

function doesOneThing(step: object, things: readonly string[], path: Path, { wrong }: Facts): boolean {
  const chosen = Object.keys(step).filter((name) => things.includes(name));
  const [first, second] = chosen;
  if (first === undefined) {
    wrong("missing_field", path, "the step does nothing", `add one of ${listed(things, "or")}`);
  } else if (second !== undefined) {
    const message = `a step does one thing; this one has ${first} and ${second}`;
    const hint = `split it into two steps, ${quote(first)} first`;
    wrong("step_contradiction", [...path, second], message, hint, "key");
  }
  return chosen.length === 1;
}

function actionFits(action: Action, path: Path, keyExists: KeyExists, facts: Facts): void {
  const { create_key: created, rotate, revoke, organization, consent, faults = [] } = action;
  checkRef("organization", created?.organization, [...path, "create_key", "organization"], facts);
  checkRef("organization", organization?.ref, [...path, "organization", "ref"], facts);
  checkRef("organization", consent?.organization, [...path, "consent", "organization"], facts);
  keyExists(rotate?.key, [...path, "rotate", "key"]);
  keyExists(revoke?.key, [...path, "revoke", "key"]);
  for (const [index, { when }] of faults.entries()) {
    keyExists(when?.key, [...path, "faults", index, "when", "key"]);
  }
  if (organization !== undefined && Object.keys(organization).length === 1) {
    const hint = "add status, sandbox_access or live_access";
    const message = "the step changes nothing about the organization";
    facts.wrong("missing_field", [...path, "organization"], message, hint);
  }
  if (action.attestation !== undefined) needsPreview([...path, "attestation"], facts);
  if (consent === undefined) return;
  needsPreview([...path, "consent"], facts);
  farmerExists(consent.farmer, [...path, "consent", "farmer"], facts);
}

function requestFits({ request }: StoryStep, path: Path, keyExists: KeyExists, facts: Facts): void {
  if (request === undefined) return;
  if (!isReserved(request.key)) keyExists(request.key, [...path, "key"]);
  for (const name of Object.keys(request.headers ?? {})) {
    if (name.toLowerCase() !== "x-api-key") continue;
    const message = "x-api-key cannot be set as a header here";
    const hint = "use key: a ref, none, malformed or unknown";
    facts.wrong("step_contradiction", [...path, "headers", name], message, hint, "key");
  }
}

function expectationFits({ expect, ...step }: StoryStep, path: Path, { wrong }: Facts): void {
  if (expect === undefined) return;
  const kind = stepKinds.find((name) => Object.hasOwn(step, name)) ?? "say";
  const isAction = (actionNames as readonly string[]).includes(kind);
  const ofRequests = ["status", "code", "path", "headers", "body"];
  const allowed = kind === "request" ? ofRequests : isAction ? ["error"] : [];
  const names = Object.keys(expect);
  if (names.length === 0) {
    const hint = allowed.length === 0 ? "remove it" : `add one of ${listed(allowed, "or")}, or remove it`;
    wrong("missing_field", [...path, "expect"], "expect is empty", hint);
  }
  const misplaced = names.find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;
  const message = `${quote(kind)} cannot expect ${quote(misplaced)}`;
  const hint = `${quote(kind)} can expect ${allowed.join(", ") || "nothing"}`;
  wrong("step_contradiction", [...path, "expect", misplaced], message, hint, "key");
}

/** Each announced change has an effect, and an old path ends after it moved. */
export const changesFit: ScenarioRule = ({ scenario, assumptions: { scopes }, wrong }) => {
  for (const [ref, change] of Object.entries(scenario.changes ?? {})) {
    const { at, say: _, move, assumptions, ...edits } = change;
    const path = ["changes", ref];
    const parts = [move, assumptions, ...Object.values(edits)];
    const isPlace = (name: string) => name === "in" || name === "on";
    if (parts.every((part = {}) => Object.keys(part).every(isPlace))) {
      wrong(
        "change_contradiction",
        path,
        "the change has no effect",
        "add an effect, such as codes or members",
        "key",
      );
    }
    const [starts = 0, ends = 0] = [parseDate(at), move && parseDate(move.sunset)];
    if (move !== undefined && ends <= starts) {
      const message = `the old path must end after it moves (${at}), not ${move.sunset}`;
      wrong("change_contradiction", [...path, "move", "sunset"], message, "write a later date");
    }
    const needed = assumptions?.me_scope;
    if (typeof needed === "string" && !scopes.includes(needed)) {
      const hint = `use one of ${scopes.join(", ")}`;
      const message = `there is no scope ${quote(needed)}`;
      wrong("unknown_scope", [...path, "assumptions", "me_scope"], message, hint);
    }
  }
};

export const stepRules: readonly ScenarioRule[] = [timelineIsInOrder, stepsFit];
