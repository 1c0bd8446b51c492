import { kindOf } from "../../rules/actions.js";
import { SandboxError } from "../../rules/errors.js";
import { mePath } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { type Received, receivedRequest } from "../../rules/request.js";
import { parsedJson } from "../../rules/schema/json.js";
import { type FieldPath, isMapping } from "../../rules/schema/shape.js";
import type { ApiResponse, Delivery } from "../../sandbox/journal/exchange.js";
import { advanceClock, performAction, runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { defaultKeyRef, secretFor } from "../../sandbox/secrets.js";
import {
  actionDifferences,
  isAsExpected,
  type PlayedStep,
  type SentRequest,
  type StepDifference,
  type StoryResponse,
  type StoryStep,
  shownValue,
  type TimelineResult,
} from "../../sandbox/steps.js";
import { viewClock } from "../../sandbox/views.js";
import type { ControlBody } from "../../scenario/format/inputs.js";
import { bodyParts } from "../faults.js";
import { handle } from "../handle.js";
import { type FlatHeaders, headerPairs } from "../messages.js";
import { actionSentences, clockSentence } from "./step-text.js";

type StepExpectation = NonNullable<StoryStep["expect"]>;

export function responseDifferences(expected: StepExpectation, response: StoryResponse): StepDifference[] {
  const { status, code, outcome: wantedOutcome, headers = {}, body } = expected;
  const content = parsedBody(response);
  const differences: StepDifference[] = [];
  const compare = (at: string, wanted: unknown, got: unknown) => {
    if (wanted !== undefined && wanted !== got) differences.push(difference(at, wanted, got));
  };
  compare("status", status, response.status);
  compare("code", code, errorCodeIn(content) ?? null);
  const { outcome, fault } = response;
  // A fault that only delays a response leaves its outcome unchanged: either of the two matches.
  if (wantedOutcome !== undefined && wantedOutcome !== fault && wantedOutcome !== outcome) {
    const beside = fault === null || fault === outcome ? "" : `, with ${fault}`;
    differences.push({
      at: "outcome",
      expected: shownValue(wantedOutcome),
      found: `${shownValue(outcome)}${beside}`,
    });
  }
  for (const [name, wanted] of Object.entries(headers)) {
    const value = response.headers[name.toLowerCase()];
    if (typeof wanted === "string") compare(`headers.${name}`, wanted, value);
    else if (wanted !== (value !== undefined)) {
      const expected = wanted ? "a value" : shownValue(undefined);
      differences.push({ at: `headers.${name}`, expected, found: shownValue(value) });
    }
  }
  if (body !== undefined) differences.push(...bodyDifferences("body", body, content));
  return differences;
}

export function errorCodeOf(response: StoryResponse): string | null {
  const code = errorCodeIn(parsedBody(response));
  return typeof code === "string" ? code : null;
}

/** How a step differs from its expectation, and the field of the scenario that it contradicts. */
export interface Difference {
  /** `status`, `body.data.usage.today`, …; `null` if the step could not run. */
  readonly at: string | null;
  readonly expected: string | null;
  readonly found: string | null;
  readonly message: string;
  readonly field: FieldPath;
}

export function differencesOf({ number, failure, differences }: PlayedStep): Difference[] {
  const step = ["story", number - 1];
  const all: Difference[] = [];
  if (failure !== null) {
    all.push({ at: null, expected: null, found: null, message: failure.message, field: step });
  }
  for (const { at, expected, found } of differences) {
    const message = `${at}: expected ${expected}, found ${found}`;
    all.push({ at, expected, found, message, field: requestTarget(at, step) });
  }
  return all;
}

// A member name with a dot cannot be followed; the path then leads to its parent.
function requestTarget(at: string, step: FieldPath): FieldPath {
  const header = /^headers\.(.*)$/s.exec(at);
  if (header !== null) return [...step, "expect", "headers", header[1] as string];
  const parts = at.split(/\.|\[(\d+)\]/).filter((part) => part !== undefined && part !== "");
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const [first, index = 0, ...rest] = path;
  return first === "timeline" ? ["timeline", index, "expect", ...rest] : [...step, "expect", ...path];
}

function difference(at: string, expected: unknown, found: unknown): StepDifference {
  return { at, expected: shownValue(expected), found: shownValue(found) };
}

// A mapping must contain the expected members and may contain others: the API may add members at any time.
function bodyDifferences(at: string, expected: unknown, found: unknown): StepDifference[] {
  if (isMapping(expected)) {
    if (!isMapping(found)) return [difference(at, expected, found)];
    return Object.entries(expected).flatMap(([name, member]) =>
      bodyDifferences(`${at}.${name}`, member, Object.hasOwn(found, name) ? found[name] : undefined),
    );
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return [difference(at, expected, found)];
    return expected.flatMap((item, index) => bodyDifferences(`${at}[${index}]`, item, found[index]));
  }
  return expected === found ? [] : [difference(at, expected, found)];
}

function parsedBody({ body }: StoryResponse): unknown {
  const json = parsedJson(body);
  return json === undefined && body !== "" ? body : json;
}

function errorCodeIn(body: unknown): unknown {
  return isMapping(body) && isMapping(body.error) ? body.error.code : null;
}

/** Runs the steps that are left, one for each result that is read. Ends before a step that is not wanted. */
export function* runStory(
  sandbox: SandboxState,
  isWanted: (step: StoryStep) => boolean = () => true,
): Generator<PlayedStep> {
  for (;;) {
    const step = sandbox.story.steps[sandbox.story.next];
    const result = step === undefined || isWanted(step) ? tryNextStep(sandbox) : undefined;
    if (result === undefined) return;
    yield result;
  }
}

/** Compares the result with the expectations; `undefined` at the end of the story. */
export function tryNextStep(sandbox: SandboxState): PlayedStep | undefined {
  const { story, journal } = sandbox;
  const timeline: TimelineResult[] = [];
  const unsubscribe = journal.subscribe((event) => {
    if (event.type === "timeline.step") timeline.push(event.result);
  });
  const resultOf = (step: StoryStep, { differences = [], ...result }: StepResult): PlayedStep => ({
    step,
    number: story.next,
    of: story.steps.length,
    kind: kindOf(step),
    say: step.say ?? null,
    request: null,
    response: null,
    performed: null,
    failure: null,
    ...result,
    timeline,
    now: viewClock(sandbox.clock).now,
    differences: [
      ...differences,
      ...timeline.flatMap(({ index, differences: others }) =>
        others.map((one) => ({ ...one, at: `timeline[${index}].${one.at}` })),
      ),
    ],
  });
  try {
    runDue(sandbox);
    const step = story.steps[story.next];
    if (step === undefined) return undefined;
    story.next += 1;
    const result = resultOf(step, playStep(sandbox, step));
    journal.emit({ type: "story.step", result: remember(story, result) });
    return result;
  } finally {
    unsubscribe();
  }
}

// Only the returned result contains the secret of a new key, never the stored one.
function remember(story: SandboxState["story"], result: PlayedStep): PlayedStep {
  const performed = result.performed && { ...result.performed, secret: null };
  story.last = { ...result, performed };
  story.results.set(result.number - 1, isAsExpected(result));
  return story.last;
}

type StepResult = Partial<PlayedStep>;

function playStep(sandbox: SandboxState, step: StoryStep): StepResult {
  try {
    return runStep(sandbox, step);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { failure: { code: error.code, message: error.message } };
  }
}

function runStep(sandbox: SandboxState, step: StoryStep): StepResult {
  if (step.after !== undefined) advanceClock(sandbox, step.after);
  if (step.request !== undefined) {
    const { received, shown } = storyRequest(sandbox, step.request);
    let response = sendRequest(sandbox, received);
    for (let count = 1; count < shown.times; count += 1) response = sendRequest(sandbox, received);
    const differences = step.expect === undefined ? [] : responseDifferences(step.expect, response);
    return { request: shown, response, differences };
  }
  if (step.advance !== undefined) advanceClock(sandbox, step.advance);
  else if (kindOf(step) !== "say") {
    const performed = performAction(sandbox, step);
    return { performed, differences: actionDifferences(step.expect, performed) };
  }
  return {};
}

/** Returns a step's request to send, and for display; throws `unknown_ref` or `secret_not_kept`. */
function storyRequest(
  sandbox: SandboxState,
  { key = defaultKeyRef(sandbox.scenario) ?? "none", method = "GET", repeat = 1, ...written }: StepRequest,
): { readonly received: Received; readonly shown: SentRequest } {
  const secret = secretFor(sandbox, key);
  const { path: target = mePath } = written;
  const [path = "/", query] = target.split(/\?(.*)/s);
  const isText = typeof written.body === "string";
  const body = isText ? String(written.body) : JSON.stringify(written.body);
  // Like a client that sets no type: a text is sent as text, no matter its content.
  const type = isText ? "text/plain" : "application/json";
  const headers: Record<string, string> = body === undefined ? {} : { "content-type": type };
  for (const [name, value] of Object.entries(written.headers ?? {})) headers[name.toLowerCase()] = value;
  const shownHeaders = Object.entries(headers).map(([name, value]) => [name, redactKeys(value)]);
  return {
    received: {
      method,
      path,
      query: query === undefined ? "" : `?${query}`,
      headers: Object.entries({ ...headers, ...(secret !== undefined && { "x-api-key": secret }) }).flat(),
      traits: body === undefined || body === "" ? [] : ["body"],
    },
    shown: {
      method,
      path: redactKeys(target),
      body: body === undefined ? null : redactKeys(body),
      key,
      headers: Object.fromEntries(shownHeaders),
      times: repeat,
    },
  };
}

/** Sends a request that is no step, with the key of a ref, of which the sandbox may have only the hash. Throws `unknown_ref`. */
export function sendByRef(sandbox: SandboxState, sending: ControlBody<"sending">): StoryResponse {
  try {
    return sendRequest(sandbox, storyRequest(sandbox, sending).received);
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "secret_not_kept") throw error;
    // The hash of a key that was created at run time is all that the API compares.
    const { received } = storyRequest(sandbox, { ...sending, key: "unknown" });
    return sendRequest(sandbox, received, sandbox.registry.key(sending.key).key.sha256);
  }
}

/** Sends a request of a story to the sandbox's API: in the journal, but not in the report, because no client sent it. */
function sendRequest(sandbox: SandboxState, received: Received, keyHash?: string): StoryResponse {
  const request = { ...receivedRequest(received), keyHash, fromStory: true };
  const { response, outcome, fault, delivery } = handle(sandbox, request);
  return { ...sentResponse(response, delivery), outcome, fault };
}

/** A response as sent: its headers by lower-case name, and its body, which may be truncated. */
export function sentResponse(
  { status, headers, body }: ApiResponse,
  { cutAfter }: Partial<Delivery> = {},
): Pick<StoryResponse, "status" | "headers" | "body"> {
  return {
    status,
    headers: status === 0 ? {} : joinedHeaders(headers),
    body: cutAfter === undefined ? body : new TextDecoder().decode(bodyParts(body, { cutAfter }).parts[0]),
  };
}

function joinedHeaders(flat: FlatHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [given, value] of headerPairs(flat)) {
    const name = given.toLowerCase();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** A request of a story, or of the control plane. */
type StepRequest = Partial<ControlBody<"sending">> & { readonly repeat?: number };

/** Contains the key that the step made. */
export function stepView(result: PlayedStep) {
  const { step: _, response, timeline, ...shown } = result;
  const meanwhile = timeline.map(({ index, at, step, performed }) => ({
    timelineStep: index + 1,
    at,
    text: actionSentences(step, performed),
    ...rejectionOf(performed),
  }));
  const text = stepText(result);
  return {
    ...shown,
    text,
    response: response && { ...response, code: errorCodeOf(response) },
    meanwhile,
  };
}

export function rejectionOf(performed: PlayedStep["performed"]) {
  const { code = null, message = null } = performed?.rejection ?? {};
  return { rejection: code, message };
}

/** Describes a step in sentences; `null` for narration, a request, and a step that could not run. */
function stepText({ step, performed, failure, now }: PlayedStep): string | null {
  if (performed !== null) return actionSentences(step, performed);
  return step.advance === undefined || failure !== null ? null : clockSentence(step.advance, now);
}
