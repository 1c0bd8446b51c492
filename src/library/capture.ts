import { type FlatHeaders, headerPairs } from "../api/messages.js";
import { sentResponse } from "../api/story-sender.js";
import { SandboxError } from "../rules/errors.js";
import { redactValue } from "../rules/redact.js";
import { requireFields, requireKnownOptions } from "../rules/schema/check.js";
import { parsedJson } from "../rules/schema/json.js";
import { actionRow } from "../rules/steps.js";
import { durationOf, isoOf, scenarioDuration } from "../sandbox/clock.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { RecordedOperation, StartState } from "../sandbox/journal/history.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { StepAction, StoryStep, TimelineStep } from "../sandbox/steps.js";
import { isReserved } from "../scenario/format/fields.js";
import { scenarioLimits } from "../scenario/limits.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { readableYaml } from "../scenario/yaml.js";
import { repeatedRequest } from "./repeated-request.js";
import type { Capture } from "./sandbox.js";

/** As given over HTTP: unchecked. */
export type CaptureOptions = Readonly<Partial<Record<keyof Capture, string | undefined>>>;

/** Other requests stay without expectations, because responses may depend on them. It contains no key. */
export function captureSandbox(sandbox: SandboxState, options: CaptureOptions = {}): Scenario {
  requireKnownOptions("capture the requests", options, ["from", "to", "key"]);
  const { from, to, key } = options;
  const { startState, steps } = recordedSteps(sandbox);
  const first = from === undefined ? 0 : indexOf(from, steps);
  const last = to === undefined ? steps.length - 1 : indexOf(to, steps);
  requireFields("capture the requests", {
    from: first > last ? `is ${from}, which came after ${to}: exchange the two` : undefined,
  });
  if (key !== undefined && !isReserved(key)) sandbox.registry.key(key);
  const isChosen = ({ exchange, step }: CapturedStep, index: number) =>
    exchange !== undefined &&
    index >= first &&
    !exchange.isProbe &&
    (key === undefined || step.request?.key === key);
  const all = steps.slice(0, last + 1);
  const start = all.findIndex(isChosen);
  if (start === -1)
    throw impossible(
      `the sandbox got no request ${key === undefined ? "of a client" : `with the key ${key}`} there`,
    );
  const story = storyOf(
    all.map((one, index) =>
      one.exchange === undefined || isChosen(one, index)
        ? one
        : { ...one, step: { request: one.step.request } as StoryStep },
    ),
    startState.at,
    start,
  );
  // A client or a scenario may have written a key anywhere (R46).
  return redactValue(scenarioOf(sandbox, startState, story, all, all.filter(isChosen)));
}

function recordedSteps({ history }: SandboxState): {
  startState: StartState;
  steps: readonly CapturedStep[];
} {
  const { startState, entries } = history.recorded();
  if (startState === undefined) {
    throw impossible(
      "the sandbox no longer keeps the state before its last requests, as it has too many keys or records to copy. Reset it, and capture within a thousand requests",
    );
  }
  const steps = entries.flatMap((one): CapturedStep | [] => {
    if (!("pathId" in one)) return operationStep(one) ?? [];
    if (one.isElsewhere) return [];
    const step = { request: repeatedRequest(one), expect: expectationOf(one) };
    return { at: one.at, step, exchange: one };
  });
  if (steps.some(({ exchange }) => exchange !== undefined)) return { startState, steps };
  const why =
    history.total() === 0
      ? "the sandbox got no request yet, or none since its reset"
      : "the sandbox got no request since the last one that a story cannot repeat: your handler responded to it, or it has a key in its body";
  throw impossible(why);
}

function indexOf(id: string, steps: readonly CapturedStep[]): number {
  const index = steps.findIndex(({ exchange }) => exchange?.id === id);
  if (index !== -1) return index;
  const ids = idsOf(steps);
  const message = `The request ${JSON.stringify(id)} cannot be captured; the first one is ${ids[0]}, the last one ${ids.at(-1)}.`;
  throw new SandboxError("not_found", message, { request: id });
}

function idsOf(steps: readonly CapturedStep[]): string[] {
  return steps.flatMap(({ exchange }) => exchange?.id ?? []);
}

function scenarioOf(
  sandbox: SandboxState,
  { scenario, at }: StartState,
  story: StoryStep[],
  all: readonly CapturedStep[],
  chosen: readonly CapturedStep[],
): Scenario {
  const { version, name: _, description: __, requests_responded: ___, clock: ____, ...rest } = scenario;
  const { timeline, organizations } = rest;
  const earlier = (all.find(({ exchange }) => exchange !== undefined)?.exchange?.number ?? 1) - 1;
  const ids = idsOf(chosen);
  const requests =
    ids.length === 1 ? `the request ${ids[0]}` : `${ids.length} requests, ${ids[0]} to ${ids.at(-1)}`;
  const start = earlier === 0 ? "" : ` It starts after request ${earlier}.`;
  return {
    version,
    name: `Captured: ${sandbox.scenario.name ?? sandbox.name}`.slice(0, 200),
    description: `Captured from a sandbox: ${requests}. The story expects the same responses.${start}`,
    ...(earlier > 0 && { requests_responded: earlier }),
    clock: { now: isoOf(at), frozen: true },
    ...rest,
    ...(timeline !== undefined && { timeline: withOutcomes(timeline, sandbox) }),
    ...(organizations !== undefined && { organizations: withoutSecrets(organizations) }),
    story,
  };
}

// Operations may have changed whether a step of the timeline was rejected.
function withOutcomes(left: readonly TimelineStep[], { timeline }: SandboxState): TimelineStep[] {
  const passed = timeline.steps.length - left.length;
  return left.map((given, index) => {
    if (passed + index >= timeline.next) return given;
    const { expect: _, ...step } = given;
    const error = timeline.rejections.get(passed + index);
    return error === undefined ? step : { ...step, expect: { error } };
  });
}

type Organizations = NonNullable<Scenario["organizations"]>;

// The seed makes other secrets. No response depends on them, so a story can send each key by its ref.
function withoutSecrets(organizations: Organizations): Organizations {
  const withoutSecret = ({
    secret: _,
    sha256: __,
    ...key
  }: NonNullable<Organizations[string]["keys"]>[string]) => key;
  return mapValues(organizations, ({ keys, ...organization }) => ({
    ...organization,
    ...(keys !== undefined && { keys: mapValues(keys, withoutSecret) }),
  }));
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, change: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function impossible(why: string): SandboxError {
  return new SandboxError("capture_impossible", `Failed to capture the requests: ${why}.`);
}

interface CapturedStep {
  /** On the sandbox's clock (epoch milliseconds). */
  readonly at: number;
  /** Without the time before it. */
  readonly step: StoryStep;
  /** The request that it repeats; `undefined` for an operation. */
  readonly exchange?: Exchange;
}

type Expectation = NonNullable<StoryStep["expect"]>;

function expectationOf({ response, delivery, fault, pathId, status }: Exchange): Expectation {
  const sent = sentResponse(response, delivery);
  const headers = unusualHeaders(response.headers);
  const body = sent.body === "" ? undefined : (parsedJson(sent.body) ?? sent.body);
  return {
    status,
    path: fault ?? pathId,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(body !== undefined && { body: body as NonNullable<Expectation["body"]> }),
  };
}

// Leaves out headers that follow from the request's number, the body or the usual form of a response.
function unusualHeaders(flat: FlatHeaders): [name: string, value: string][] {
  const headers = new Map<string, [string, string]>();
  for (const [name, value] of headerPairs(flat)) {
    const [first = name, earlier] = headers.get(name.toLowerCase()) ?? [];
    headers.set(name.toLowerCase(), [first, earlier === undefined ? value : `${earlier}, ${value}`]);
  }
  for (const name of ["x-request-id", "content-length"]) headers.delete(name);
  if (headers.get("content-type")?.[1] === "application/json") headers.delete("content-type");
  return [...headers.values()];
}

function operationStep(operation: RecordedOperation): CapturedStep | undefined {
  const { at, rejection } = operation;
  const action = actionOf(operation);
  if (action === undefined) return undefined;
  if (rejection === undefined) return { at, step: action };
  // Rejected for the call itself, not for the state of the sandbox.
  if (["validation_failed", "unknown_ref", "unknown_scope"].includes(rejection)) return undefined;
  return { at, step: { ...action, expect: { error: rejection as NonNullable<Expectation["error"]> } } };
}

function actionOf({ name, input, actor, made }: RecordedOperation): StepAction | undefined {
  const given = input as Record<string, unknown>;
  const by = actor === undefined || actor === "administrator" ? {} : { actor };
  switch (name) {
    case "create_key": {
      const { ref = made, ...rest } = given;
      return cleaned({ create_key: { ...rest, ref, ...by } });
    }
    case "rotate": {
      const { key, as = made, overlap } = given;
      const length =
        overlap === undefined ? undefined : scenarioDuration(durationOf(overlap as string | number));
      return cleaned({ rotate: { key, as, overlap: length, ...by } });
    }
    case "organization":
      // Stories contain no attempts by members and no empty changes.
      if (actor === "member" || Object.values(given).filter((value) => value !== undefined).length < 2)
        return undefined;
      return cleaned({ organization: given });
    case "faults":
      return cleaned({ faults: input });
    default:
      return cleaned({ [name]: actionRow(name).isForAdministrators ? { ...given, ...by } : given });
  }
}

// Calls may have fields that are `undefined`; scenarios have none.
function cleaned(action: object): StepAction {
  return JSON.parse(JSON.stringify(action));
}

/** Equal requests with equal results at one instant become one step. */
function storyOf(captured: readonly CapturedStep[], since: number, start: number): StoryStep[] {
  const story: StoryStep[] = [];
  let now = since;
  let last: StoryStep | undefined;
  for (const [index, { at, step }] of captured.entries()) {
    const isStart = index === start && index > 0;
    if (isStart) story.push({ say: "The capture starts here. Everything before is needed to repeat it." });
    const { repeat = 1, ...request } = last?.request ?? {};
    const isSame =
      at === now &&
      !isStart &&
      step.request !== undefined &&
      JSON.stringify([step.request, step.expect]) === JSON.stringify([request, last?.expect]);
    if (isSame && last?.request !== undefined) last.request = { ...request, repeat: repeat + 1 };
    else {
      last = { ...(at > now && { after: scenarioDuration(at - now) }), ...structuredClone(step) };
      story.push(last);
    }
    now = at;
  }
  return story;
}

export function captureText(sandbox: SandboxState, options: CaptureOptions = {}): string {
  const text = readableYaml(captureSandbox(sandbox, options));
  if (new TextEncoder().encode(text).length <= scenarioLimits.bytes) return text;
  throw new SandboxError(
    "capture_impossible",
    "The capture would be larger than 1 MiB. Capture a part with from and to, or with key.",
  );
}
