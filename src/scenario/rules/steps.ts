import {
  type ConsentTransition,
  consentActions,
  consentHistory,
  defaultConsentTime,
  effectiveDecisions,
  maximumConsentTime,
} from "../../domain/consent.js";
import { personaOf } from "../../domain/farmer.js";
import { defaultSeed } from "../../domain/seed.js";
import { type ActionName, actionNames, stepKinds } from "../../domain/steps.js";
import type { Path } from "../../schema/shape.js";
import { listed, quote } from "../../schema/words.js";
import { parseDate } from "../format/changes.js";
import { isReserved } from "../format/fields.js";
import type { Scenario } from "../scenario.generated.js";
import { between, checkRef, type Facts, type ScenarioRule } from "./facts.js";

type StoryStep = NonNullable<Scenario["story"]>[number];
type Action = Pick<StoryStep, ActionName>;

// What is wrong with a step by itself. Whether it comes out as it says is found by running it.

/** The steps of the timeline stand in the order in which they happen, after the start of the clock. */
const timelineIsInOrder: ScenarioRule = ({ scenario, fromStart, wrong }) => {
  let latest: string | undefined;
  for (const [index, { at }] of (scenario.timeline ?? []).entries()) {
    const path = ["timeline", index, "at"];
    if ((fromStart(at) ?? 0) < 0) {
      const hint = "write a later time, or describe the world as it is at the start";
      wrong("timeline_order", path, `this would be before the clock starts (${at})`, hint);
    } else if (latest !== undefined && (between(latest, at, scenario.clock?.now) ?? 0) < 0) {
      const message = `the step is earlier (${at}) than the one before it (${latest})`;
      wrong("timeline_order", path, message, "put the steps in the order of their times");
    } else latest = at;
  }
};

/** Each step does one thing, to what is there or made by a step, and expects what can be expected of it. */
const stepsFit: ScenarioRule = (facts) => {
  const { timeline = [], story = [], requests_answered: answered } = facts.scenario;
  const made = [...timeline, ...story].flatMap(({ create_key: created, rotate }) => [
    ...(created ? [created.ref] : []),
    ...(rotate ? [rotate.as] : []),
  ]);
  const keyExists: KeyExists = (ref, path) => {
    // A step may make a key without naming it: what it is called then is found by running it.
    if (!made.includes(undefined) && !made.includes(ref)) checkRef("key", ref, path, facts);
  };
  for (const [index, step] of timeline.entries()) {
    const path = ["timeline", index];
    const doesOne = doesOneThing(step, actionNames, path, facts);
    // What was done to the world of a snapshot may have left steps of its timeline that come to nothing.
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
    wrong("missing_field", path, "the step does nothing", `give it one of ${listed(things, "or")}`);
  } else if (second !== undefined) {
    const message = `a step does one thing, and this one has ${first} and ${second}`;
    const hint = `make two steps of it, ${quote(first)} first`;
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
    const hint = "give it one of status, sandbox_access or live_access";
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
    const message = "the key of a request is not written as a header";
    const hint = "name the key with key: a ref, none, malformed or unknown";
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
    const hint = allowed.length === 0 ? "remove it" : `give it ${allowed.join(", ")}, or remove it`;
    wrong("missing_field", [...path, "expect"], "expect says nothing", hint);
  }
  const misplaced = names.find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;
  const message = `${quote(misplaced)} cannot be expected of ${quote(kind)}`;
  const hint = `what can be expected of ${quote(kind)}: ${allowed.join(", ") || "nothing"}`;
  wrong("step_contradiction", [...path, "expect", misplaced], message, hint, "key");
}

type Consent = NonNullable<Scenario["consents"]>[number];

// Consent requests, and what was done about them before the clock starts.

/** The number of farmers of a scenario that does not say. */
const defaultFarmers = 1000;

/** Every consent request of a scenario can have been made and come as far as it says. */
const consentsFit: ScenarioRule = (facts) => {
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
      const message = "another request of the organization was made with this key";
      contradiction(["idempotency", "key"], message, "write another key");
    }
    if (timesFit(consent, facts, contradiction)) decisionsFit(consent, facts, contradiction);
  }
};

/** Reports a use of the preview in a scenario without it. */
function needsPreview(path: Path, { scenario, wrong }: Facts): void {
  if (scenario.preview === true) return;
  const message = "there are no consent requests without the preview of the announced endpoints";
  wrong("preview_off", path, message, "write preview: true at the top level");
}

/** Reports the number of a farmer that does not exist. */
function farmerExists(farmer: number, path: Path, { scenario, wrong }: Facts): void {
  const count = scenario.population?.farmers ?? defaultFarmers;
  if (farmer < count) return;
  const message = `there is no farmer ${farmer}: the scenario has ${count}, counted from 0`;
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
    wrong(["created_at"], `the request is made after the clock starts (${created})`, "write an earlier time");
  }
  const lasts = between(created, expires, now) ?? 1;
  if (lasts <= 0) {
    wrong(["expires_at"], `the consent ends no later than it is made (${expires})`, "write a later time");
  } else if (lasts > maximumConsentTime) {
    wrong(["expires_at"], `the consent lasts longer than 365 days (${expires})`, "write an earlier time");
  }
  let latest = created;
  for (const [index, { at }] of decisions.entries()) {
    const path = ["decisions", index, "at"];
    if ((fromStart(at) ?? 0) > 0) {
      wrong(path, `this would be after the clock starts (${at})`, "let the timeline or the story do it");
    } else if ((between(latest, at, now) ?? 0) < 0) {
      wrong(path, `this is earlier (${at}) than what comes before it`, "put it in the order of the times");
    } else latest = at;
  }
  return fits;
}

// Whether each decision is possible at its time: what the farmer does by itself, and what time does, comes in between.
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
  const message = `by then the request is ${status}, and ${vain.action} is for one that is ${from}`;
  contradiction(["decisions", index], message, "write another time, or leave it out");
}

/** Each announced change does something, and a path ends after it moved. */
const changesFit: ScenarioRule = ({ scenario, assumptions: { scopes }, wrong }) => {
  for (const [ref, change] of Object.entries(scenario.changes ?? {})) {
    const { at, say: _, move, assumptions, ...edits } = change;
    const path = ["changes", ref];
    const parts = [move, assumptions, ...Object.values(edits)];
    const isPlace = (name: string) => name === "in" || name === "on";
    if (parts.every((part = {}) => Object.keys(part).every(isPlace))) {
      wrong(
        "change_contradiction",
        path,
        "the change changes nothing",
        "add what changes: codes, members",
        "key",
      );
    }
    const [starts = 0, ends = 0] = [parseDate(at), move && parseDate(move.sunset)];
    if (move !== undefined && ends <= starts) {
      const message = `the old path ends (${move.sunset}) no later than it moves (${at})`;
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

/** The rules about consent requests, steps and announced changes. */
export const stepRules: readonly ScenarioRule[] = [consentsFit, timelineIsInOrder, stepsFit, changesFit];
