import { SandboxError } from "../../rules/errors.js";
import { advanceClock, performAction, runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import {
  actionDifferences,
  isAsExpected,
  type PlayedStep,
  type StepDifference,
  type StoryResponse,
  type StoryStep,
  shownValue,
  type TimelineResult,
} from "../../sandbox/steps.js";
import { viewClock } from "../../sandbox/views.js";
import { stepKind } from "../../scenario/actions.js";
import { tryParseJson } from "../../schema/json-text.js";
import type { FieldPath } from "../../schema/shape.js";
import { isMapping } from "../../schema/type-tag.js";
import { sendFromSandbox, storyRequest } from "./send.js";

// Who plays a story, and what each does with a step that fails:
//
// | who                    | where                              | a step that fails                                |
// |------------------------|------------------------------------|--------------------------------------------------|
// | `verify`               | `testStory` in cli/story.ts        | ends the story; its place is shown; exits with 1 |
// | `play`                 | cli/commands/play.ts               | is shown with its place; exits with 1 at the end |
// | `validate`, `start`    | `runWholeStory` in node/dry-run.ts | is an error of `validate`, a warning of `start`  |
// | the page               | server/control/routes/story.ts     | is marked; the presenter continues               |
//
// How a step can fail:
//
// | the step                                       | its result               |
// |------------------------------------------------|--------------------------|
// | cannot run: it names a key that does not exist | `failure`                |
// | ends otherwise than it expects                 | `differences`            |
// | is rejected, and expects no error              | `differences`            |
// | runs a step of the timeline that fails         | `timeline[].differences` |

/** The part of a result that the kind of its step decides. */
type StepResult = Pick<PlayedStep, "request" | "response" | "performed" | "failure" | "differences">;

/** The result of a step that does nothing, and cannot differ from anything. */
const emptyResult: StepResult = {
  request: null,
  response: null,
  performed: null,
  failure: null,
  differences: [],
};

/** Runs the steps that are left, one for each result that is read. Ends before a step that is not wanted. */
export function* runStory(
  sandbox: SandboxState,
  isWanted: (step: StoryStep) => boolean = () => true,
): Generator<PlayedStep> {
  for (;;) {
    const step = sandbox.story.steps[sandbox.story.next];
    if (step !== undefined && !isWanted(step)) return;
    const result = runNextStep(sandbox);
    if (result === undefined) return;
    yield result;
  }
}

/**
 * Runs the next step of a presenter, who talks between the steps: from the first to the last one, only they move the clock,
 * as for `play` and `verify`.
 */
export function presentNextStep(sandbox: SandboxState): PlayedStep | undefined {
  const { story, clock } = sandbox;
  const isFirst = story.next === 0 && story.steps.length > 0;
  if (isFirst) {
    story.resumesAtEnd = !clock.isFrozen();
    clock.freeze();
  }

  const result = runNextStep(sandbox);
  const isOver = story.next >= story.steps.length;
  if (isOver && story.resumesAtEnd) {
    clock.resume();
    story.resumesAtEnd = false;
  }
  return result;
}

/** Runs the next step and compares its result with what is expected; `undefined` at the end of the story. */
export function runNextStep(sandbox: SandboxState): PlayedStep | undefined {
  const { story, journal } = sandbox;

  // A step that moves the clock also runs what is due in the timeline.
  const timeline: TimelineResult[] = [];
  const unsubscribe = journal.subscribe((event) => {
    if (event.type === "timeline.step") timeline.push(event.result);
  });

  try {
    runDue(sandbox);
    const step = story.steps[story.next];
    if (step === undefined) return undefined;
    story.next += 1;
    const number = story.next;
    const { request, response, performed, failure, differences } = runOrFail(sandbox, step);
    const result: PlayedStep = {
      step,
      number,
      of: story.steps.length,
      kind: stepKind(step),
      say: step.say ?? null,
      request,
      response,
      performed,
      failure,
      timeline,
      now: viewClock(sandbox.clock).now,
      differences,
    };

    // Only the returned result contains the secret of a new key, never the stored one.
    story.last = { ...result, performed: performed && { ...performed, secret: null } };
    story.results[number - 1] = isAsExpected(result);
    journal.emit({ type: "story.step", result: story.last });
    return result;
  } finally {
    unsubscribe();
  }
}

/** Runs a step. An error of the sandbox is its result. */
function runOrFail(sandbox: SandboxState, step: StoryStep): StepResult {
  try {
    return runStep(sandbox, step);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { ...emptyResult, failure: { code: error.code, message: error.message } };
  }
}

function runStep(sandbox: SandboxState, step: StoryStep): StepResult {
  const field = ["story", sandbox.story.next - 1];
  if (step.after !== undefined) advanceClock(sandbox, { by: step.after }, { isScripted: true });

  if (step.request !== undefined) {
    const { received, shown } = storyRequest(sandbox, step.request);
    // Of several, the last response counts.
    let response = sendFromSandbox(sandbox, received);
    for (let count = 1; count < shown.times; count += 1) response = sendFromSandbox(sandbox, received);
    let differences: StepDifference[] = [];
    if (step.expect !== undefined) differences = responseDifferences(field, step.expect, response);
    return { ...emptyResult, request: shown, response, differences };
  }

  if (step.advance !== undefined) {
    advanceClock(sandbox, { by: step.advance }, { isScripted: true });
    return emptyResult;
  }

  if (stepKind(step) === "say") return emptyResult;
  const performed = performAction(sandbox, step);
  return { ...emptyResult, performed, differences: actionDifferences(field, step.expect ?? {}, performed) };
}

/** Compares a response with what a step expects: its status, error code, outcome, headers and body. `step`: `["story", 0]`. */
export function responseDifferences(
  step: FieldPath,
  expected: NonNullable<StoryStep["expect"]>,
  response: StoryResponse,
): StepDifference[] {
  const { outcome, fault } = response;
  const content = bodyValue(response);
  const expectField = [...step, "expect"];
  const differences: StepDifference[] = [];
  if (expected.status !== undefined && expected.status !== response.status) {
    differences.push(valueDifference([...expectField, "status"], expected.status, response.status));
  }

  const code = errorCodeIn(content);
  if (expected.code !== undefined && expected.code !== code) {
    differences.push(valueDifference([...expectField, "code"], expected.code, code));
  }

  // A fault that only delays a response leaves its outcome unchanged: either of the two matches.
  const expectedOutcome = expected.outcome;
  if (expectedOutcome !== undefined && expectedOutcome !== outcome && expectedOutcome !== fault) {
    let foundOutcome = shownValue(outcome);
    if (fault !== null && fault !== outcome) foundOutcome += `, with ${fault}`;
    const field = [...expectField, "outcome"];
    differences.push({ field, expected: shownValue(expectedOutcome), found: foundOutcome });
  }

  for (const [name, expectedValue] of Object.entries(expected.headers ?? {})) {
    const value = ownMember(response.headers, name.toLowerCase());
    // It is expected with this value, with any value (`true`), or not to be there (`false`).
    const isAsExpected =
      typeof expectedValue === "boolean" ? (value !== undefined) === expectedValue : value === expectedValue;
    if (isAsExpected) continue;
    let words = shownValue(expectedValue);
    if (expectedValue === true) words = "a value";
    if (expectedValue === false) words = shownValue(undefined);
    const field = [...expectField, "headers", name];
    differences.push({ field, expected: words, found: shownValue(value) });
  }

  if (expected.body !== undefined) {
    differences.push(...bodyDifferences([...expectField, "body"], expected.body, content));
  }
  return differences;
}

/** Compares values of bodies. A mapping must contain the expected members and may contain others: the API may add members at any time. */
function bodyDifferences(field: FieldPath, expected: unknown, found: unknown): StepDifference[] {
  const differences: StepDifference[] = [];
  if (isMapping(expected)) {
    if (!isMapping(found)) return [valueDifference(field, expected, found)];
    for (const [name, member] of Object.entries(expected)) {
      differences.push(...bodyDifferences([...field, name], member, ownMember(found, name)));
    }
    return differences;
  }

  if (Array.isArray(expected)) {
    const isAsLong = Array.isArray(found) && found.length === expected.length;
    if (!isAsLong) return [valueDifference(field, expected, found)];
    for (const [index, item] of expected.entries()) {
      differences.push(...bodyDifferences([...field, index], item, found[index]));
    }
    return differences;
  }

  if (expected !== found) differences.push(valueDifference(field, expected, found));
  return differences;
}

/** A member of a mapping; `undefined` if it is missing. A name such as `constructor` is in every object, but is none of its own. */
function ownMember<Value>(mapping: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}

function valueDifference(field: FieldPath, expected: unknown, found: unknown): StepDifference {
  return { field, expected: shownValue(expected), found: shownValue(found) };
}

/** The error code in the body of a response; `null` without one. */
export function errorCodeOf(response: StoryResponse): string | null {
  const code = errorCodeIn(bodyValue(response));
  return typeof code === "string" ? code : null;
}

/** The body as a value; as its text if it is no JSON. */
function bodyValue({ body }: StoryResponse): unknown {
  const json = tryParseJson(body);
  return json === undefined ? body : json;
}

/** The member `error.code` of a body, whatever it is; `null` without one. */
function errorCodeIn(body: unknown): unknown {
  if (!isMapping(body) || !isMapping(body.error)) return null;
  return body.error.code ?? null;
}
