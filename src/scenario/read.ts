import { SandboxError } from "../rules/errors.js";
import { maximumProblems, shapeProblems } from "../rules/schema/check.js";
import { mergedByName } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import { nearest, quote } from "../rules/schema/words.js";
import { type ActionName, actionNames, actionRow, refsIn, stepKinds } from "../rules/steps.js";
import { endpointsFit } from "./checks/endpoints.js";
import { checkRef, type Facts, factsOf, refRules, type ScenarioRule } from "./checks/facts.js";
import { checkPathId, faultsFit } from "./checks/faults.js";
import { keyRules } from "./checks/keys.js";
import { forbiddenNames, isReserved, scenarioLimits } from "./format/fields.js";
import { scenarioSchema } from "./format/schema.js";
import {
  ScenarioError,
  type ScenarioMistake,
  type ScenarioProblem,
  type ScenarioProblemCode,
  type SourcePlace,
} from "./problems.js";
import type { Scenario } from "./scenario.generated.js";

export interface ReadScenario {
  readonly fields: Members;
  /** Finds the place of a field, or of the nearest one around it; `depth` is the length of the found path. */
  readonly placeOf: (
    path: Path,
    pointAt: "key" | "value",
  ) => { readonly place: SourcePlace | undefined; readonly depth: number };
}

export type ReportProblem = (diagnostic: ScenarioMistake) => void;

export interface FoundScenario {
  readonly file: string | undefined;
  readonly startsLikeScenario: boolean;
  readonly read: (report: ReportProblem) => ReadScenario | undefined;
}

export interface ExtendsOptions {
  readonly find: (name: string, from: string | undefined) => FoundScenario | undefined;
  readonly knownNames: readonly string[];
}

export interface ScenarioText {
  readonly text: string;
  readonly file: string;
}

/** Merges a scenario with the ones it extends, without their stories; `undefined` if one cannot be read. */
export function resolveExtends(
  own: ReadScenario,
  file: string | undefined,
  options: ExtendsOptions,
  report: ReportProblem,
  chain: readonly string[] = file === undefined ? [] : [file],
): ReadScenario | undefined {
  const { extends: name, ...fields } = own.fields;
  if (name === undefined) return own;
  const { place } = own.placeOf(["extends"], "value");
  const fail = (code: ScenarioProblemCode, message: string, hint: string) => {
    report({ code, path: ["extends"], place, message, hint });
    return undefined;
  };
  if (typeof name !== "string" || name === "") {
    const hint = "name a bundled scenario, or a file relative to this one";
    return fail("wrong_type", `extends is the name of a scenario, not ${quote(name)}`, hint);
  }
  const extended = findExtended(name, file, options, fail);
  if (extended === undefined) return undefined;
  const parentFile = extended.file ?? name;
  if (chain.includes(parentFile)) {
    const loop = [...chain.slice(chain.indexOf(parentFile)), parentFile].join(" → ");
    return fail("extends_loop", `the scenarios extend each other: ${loop}`, "remove one of these extends");
  }
  const problems: ScenarioMistake[] = [];
  const written = extended.read((problem) => problems.push(problem));
  // Shows nothing of another file: it may be any file of this machine.
  if (written === undefined ? !extended.startsLikeScenario : written.fields.version !== 1) {
    const { version } = written?.fields ?? {};
    const hint = "each file starts with version: 1";
    if (typeof version !== "number") return fail("extends_failed", `${quote(name)} is not a scenario`, hint);
    const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
    return fail("unsupported_version", message, hint);
  }
  for (const problem of problems) report(problem);
  const parent = written && resolveExtends(written, extended.file, options, report, [...chain, parentFile]);
  if (parent === undefined) return undefined;
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _, ...inherited } = parent.fields;
  return {
    fields: { ...(mergedByName(inherited, fields) as Members), ...endpointsIn(inherited, fields) },
    placeOf(path, pointAt) {
      const [mine, inherited] = [own.placeOf(path, pointAt), parent.placeOf(path, pointAt)];
      return inherited.depth > mine.depth && inherited.place !== undefined ? inherited : mine;
    },
  };
}

/** The endpoints of a scenario with those that it extends: by name and field; `null` removes one. */
function endpointsIn({ endpoints: inherited }: Members, { endpoints: written }: Members) {
  if (!isMapping(inherited) || !isMapping(written)) return {};
  const endpoints = { ...inherited };
  for (const [name, fields] of Object.entries(written)) {
    const under = Object.hasOwn(endpoints, name) ? endpoints[name] : null;
    if (fields === null && under !== null) delete endpoints[name];
    else endpoints[name] = isMapping(under) && isMapping(fields) ? { ...under, ...fields } : fields;
  }
  return { endpoints };
}

function findExtended(
  name: string,
  file: string | undefined,
  options: ExtendsOptions,
  fail: (code: ScenarioProblemCode, message: string, hint: string) => undefined,
): FoundScenario | undefined {
  try {
    const near = nearest(name, options.knownNames);
    const hint = near
      ? `did you mean ${near}?`
      : `name one of ${options.knownNames.join(", ")}, or a file if this scenario is in a file`;
    const extended = options.find(name, file);
    return extended ?? fail("extends_not_found", `there is no scenario ${quote(name)}`, hint);
  } catch (error) {
    if (error instanceof ScenarioError) throw error;
    // Our loaders' messages are sentences; others need a sentence around them.
    const reason = error instanceof Error ? error.message : String(error);
    const message =
      error instanceof SandboxError ? reason : `the scenario ${quote(name)} could not be read: ${reason}`;
    return fail("extends_failed", message, "name a bundled scenario, or a file relative to this one");
  }
}

/** Copies plain data that should be a scenario; `undefined`, with reports, if something is wrong. Never throws. */
export function readPlain(value: unknown, report: ReportProblem, maxValues: number): Members | undefined {
  if (isPlainObject(value)) return new PlainCopy(report, maxValues).of(value);
  const message = `a scenario is a mapping of fields, found ${quote(value)}`;
  report({ code: "not_a_mapping", path: [], message, hint: "start with version: 1" });
  return undefined;
}

class PlainCopy {
  readonly #report: ReportProblem;
  readonly #maxValues: number;
  #values = 0;
  #isFine = true;
  #isCut = false;

  constructor(report: ReportProblem, maxValues: number) {
    this.#report = report;
    this.#maxValues = maxValues;
  }

  of(value: object): Members | undefined {
    try {
      const copied = this.#copy(value, []) as Members;
      return this.#isFine ? copied : undefined;
    } catch (error) {
      const message = `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
      const hint = "pass plain data, without getters";
      return this.#wrong({ code: "not_plain_data", path: [], message, hint });
    }
  }

  #copy(part: unknown, path: Path): unknown {
    if (!this.#hasRoomFor(part, path)) return undefined;
    if (path.length > scenarioLimits.levels) {
      const message = `nested deeper than ${scenarioLimits.levels} levels, or contains itself`;
      return this.#wrong({ code: "too_deep", path, message, hint: "the format needs only seven" });
    }
    if (part === null || typeof part === "string" || typeof part === "number" || typeof part === "boolean") {
      return part;
    }
    if (Array.isArray(part)) return part.map((item, index) => this.#copy(item, [...path, index]));
    if (isPlainObject(part)) return this.#copyMembers(part, path);
    const message = `not plain data: found ${part instanceof Date ? "a Date" : `a value of type ${typeof part}`}`;
    const hint = "pass text (also for times), numbers, booleans, lists, objects";
    return this.#wrong({ code: "not_plain_data", path, message, hint });
  }

  // Reports the lack of room only once.
  #hasRoomFor(part: unknown, path: Path): boolean {
    this.#values += 1;
    // A list may have a large length without items.
    if (this.#values + (Array.isArray(part) ? part.length : 0) < this.#maxValues) return !this.#isCut;
    const hint = "split it, or use population";
    if (!this.#isCut)
      this.#wrong({ code: "too_large", path, message: "the scenario has too many parts", hint });
    this.#isCut = true;
    return false;
  }

  #copyMembers(part: object, path: Path): Members {
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(part)) {
      const inner = [...path, name];
      if (forbiddenNames.has(name)) {
        const message = `${JSON.stringify(name)} is not allowed as a name in a scenario`;
        const hint = "choose another name";
        this.#wrong({ code: "forbidden_field", path: inner, pointAt: "key", message, hint });
      } else if (member !== undefined) members[name] = this.#copy(member, inner);
    }
    return members;
  }

  #wrong(mistake: ScenarioMistake): undefined {
    this.#isFine = false;
    this.#report(mistake);
  }
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (an iframe, a vm context, a test runner) have their own Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Checks the shape of a scenario's fields, then the fields against each other. Throws a `ScenarioError`. */
export function interpretScenario({ read, file }: FoundScenario, options: ExtendsOptions): Scenario {
  const diagnostics: ScenarioMistake[] = [];
  const report = (mistake: ScenarioMistake) => {
    if (diagnostics.length < maximumProblems) diagnostics.push(mistake);
  };
  const written = read(report);
  const whole = written && resolveExtends(written, file, options, report);
  if (whole === undefined) throw new ScenarioError(problemsOf(diagnostics, written, file));
  const extensions: [members: Record<string, unknown>, name: string][] = [];
  // A member such as `x-limits` is a place for anchors.
  const isExtension = (name: string, members: Record<string, unknown>) =>
    name.startsWith("x-") && extensions.push([members, name]) > 0;
  const spelling = (path: Path) => {
    const { place, depth } = whole.placeOf(path, "value");
    if (place === undefined || depth < path.length) return undefined;
    return /^[\w.+-]+/.exec(place.source.text.slice(place.offset, place.offset + 100))?.[0];
  };
  const misshapen = shapeProblems(scenarioSchema, whole.fields, isExtension, spelling);
  for (const [members, name] of extensions) delete members[name];
  diagnostics.push(...misshapen);
  const scenario = whole.fields as unknown as Scenario; // the rules see it only if it has its shape
  if (misshapen.length === 0) {
    const facts = factsOf(scenario, diagnostics);
    for (const rule of rules) rule(facts);
  }
  if (diagnostics.length === 0) return scenario;
  throw new ScenarioError(problemsOf(diagnostics, whole, file));
}

/** The first problem of each field, sorted by place: first in the scenario's own text, then in the extended ones. */
function problemsOf(
  diagnostics: readonly ScenarioMistake[],
  read: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const source = read?.placeOf([], "value").place?.source;
  const order = (place: SourcePlace | undefined) => {
    const isExtended = source !== undefined && place?.source !== source;
    return place === undefined ? 0 : place.offset + (isExtended ? source.text.length + 1 : 0);
  };
  const ids = new Set<string>();
  return diagnostics
    .map((one) => {
      const { place, depth } = read?.placeOf(one.path, one.pointAt ?? "value") ?? {};
      // Many fields may share a field of an anchor.
      const name = depth === one.path.length ? one.path.at(-1) : one.path;
      return { ...one, place: one.place ?? place, name };
    })
    .filter(({ name, place }) => {
      const id = JSON.stringify([name, place?.offset, place?.source.file]);
      return !ids.has(id) && ids.add(id);
    })
    .sort((one, other) => order(one.place) - order(other.place))
    .slice(0, maximumProblems)
    .map(({ code, path, message, hint, place }) => {
      const name = place === undefined ? file : place.source.file;
      return {
        code,
        path: pathText(path),
        message,
        ...(hint !== undefined && { hint }),
        ...(name !== undefined && { file: name }),
        ...place?.describe(),
      };
    });
}

type StoryStep = NonNullable<Scenario["story"]>[number];
type Action = Pick<StoryStep, ActionName>;

// Problems of single steps. Only a run shows whether a step has its expected result.

const timelineIsInOrder: ScenarioRule = ({ scenario, fromStart, wrong }) => {
  const times = (scenario.timeline ?? []).map(({ at }) => at);
  let latest = 0;
  const index = times.findIndex((text) => {
    const before = latest;
    // A time that depends on the real time fits anywhere.
    latest = fromStart(text) ?? latest;
    return latest < before;
  });
  if (index < 0) return;
  const message = `the step is earlier (${times[index]}) than the one before it, or the start of the clock`;
  wrong(
    "timeline_order",
    ["timeline", index, "at"],
    message,
    "write a later time, or sort the steps by time",
  );
};

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
const stepsFit: ScenarioRule = (facts) => {
  const { timeline = [], story = [], requests_responded: responded } = facts.scenario;
  const newRefs = new Set(
    [...timeline, ...story].map(refsIn).flatMap(({ makes, made }) => (makes ? [made] : [])),
  );
  const keyExists: KeyExists = (ref, path) => {
    // A step may create a key without a ref; only a run shows its ref.
    if (!newRefs.has(undefined) && !newRefs.has(ref)) checkRef("key", ref, path, facts);
  };
  for (const [index, step] of timeline.entries()) {
    const path = ["timeline", index];
    const doesOne = doesOneThing(step, actionNames, path, facts);
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    if (doesOne && responded === undefined) actionFits(step, path, keyExists, facts);
  }
  for (const [index, step] of story.entries()) {
    const path = ["story", index];
    if (!doesOneThing(step, stepKinds, path, facts)) continue;
    actionFits(step, path, keyExists, facts);
    const sender = step.request?.key;
    if (!isReserved(sender)) keyExists(sender, [...path, "request", "key"]);
    expectationFits(step, path, facts);
  }
};

type KeyExists = (ref: string | undefined, path: Path) => void;

function doesOneThing(step: object, things: readonly string[], path: Path, { wrong }: Facts): boolean {
  const [first, second] = Object.keys(step).filter((name) => things.includes(name));
  if (second === undefined) return true;
  const message = `a step does one thing; this one has ${first} and ${second}`;
  const hint = `split it into two steps, ${quote(first)} first`;
  wrong("step_contradiction", [...path, second], message, hint, "key");
  return false;
}

function actionFits(action: Action, path: Path, keyExists: KeyExists, facts: Facts): void {
  const { faults = [] } = action;
  const { name, key, organization } = refsIn(action);
  if (name === undefined) return;
  const row = actionRow(name);
  const at = (field = "") => [...path, name, field];
  checkRef("organization", organization, at(row.organization), facts);
  keyExists(key, at(row.key));
  for (const [index, { when }] of faults.entries()) {
    keyExists(when?.key, [...path, "faults", index, "when", "key"]);
  }
}

function expectationFits({ expect, ...step }: StoryStep, path: Path, { scenario, wrong }: Facts): void {
  if (expect === undefined) return;
  checkPathId(expect.path, [...path, "expect", "path"], { scenario, wrong });
  const kind = stepKinds.find((name) => Object.hasOwn(step, name)) ?? "say";
  const isAction = (actionNames as readonly string[]).includes(kind);
  const ofRequests = ["status", "code", "path", "headers", "body"];
  const allowed = kind === "request" ? ofRequests : isAction ? ["error"] : [];
  const misplaced = Object.keys(expect).find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;
  const message = `${quote(kind)} cannot expect ${quote(misplaced)}`;
  const hint = `${quote(kind)} can expect ${allowed.join(", ") || "nothing"}`;
  wrong("step_contradiction", [...path, "expect", misplaced], message, hint, "key");
}

const rules = [...refRules, ...keyRules, endpointsFit, faultsFit, timelineIsInOrder, stepsFit];
