import type { Path } from "../../spec/schema/shape.js";
import { listed, quote } from "../../spec/schema/words.js";
import { type ActionName, actionNames, stepKinds } from "../../spec/steps.js";
import { isReserved } from "../format/fields.js";
import type { Scenario } from "../scenario.generated.js";
import { farmerExists, needsPreview } from "./consents.js";
import { between, checkRef, type Facts, type ScenarioRule } from "./facts.js";

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
    } else if (latest !== undefined && (between(latest, at, scenario.clock?.now) ?? 0) < 0) {
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

export const stepRules: readonly ScenarioRule[] = [timelineIsInOrder, stepsFit];
