import { sentAnswer } from "../api/story-sender.js";
import { durationOf, type Instant, instantFrom, isoOf } from "../sandbox/clock.js";
import type { Exchange, RequestContent } from "../sandbox/history/exchange.js";
import type { RecordedOperation } from "../sandbox/history/history.js";
import type { Action, StoryStep } from "../sandbox/steps.js";
import { storyPlaceholder } from "../scenario/format/fields.js";
import { adviceIds } from "../spec/advice.js";
import { isMapping, parsedJson } from "../spec/json.js";
import { mePath } from "../spec/outcomes.js";

/** A request or an operation as a step of a story. */
export interface CapturedStep {
  /** On the sandbox's clock (epoch milliseconds). */
  readonly at: number;
  /** Without the time before it. */
  readonly step: StoryStep;
  /** The request that it repeats; `undefined` for an operation. */
  readonly exchange?: Exchange;
}

type GivenRequest = NonNullable<StoryStep["request"]>;
type Expectation = NonNullable<StoryStep["expect"]>;

/** Returns the step that resends a request and expects the same response. */
export function requestStep(exchange: Exchange): CapturedStep {
  const { key, presented, method, content } = exchange;
  const withoutRef = { missing: "none", malformed: "malformed", well_formed: "unknown" }[presented];
  const path = pathOf(exchange);
  const request: GivenRequest = {
    key: key ?? withoutRef,
    ...(method !== "GET" && { method: /^[A-Z]{1,20}$/.test(method) ? method : "OTHER" }),
    ...(path !== mePath && { path }),
    ...(content !== undefined && contentOf(content)),
  };
  return { at: exchange.at, step: { request, expect: expectationOf(exchange) }, exchange };
}

// Parts that were cut out of a path, or that stories cannot contain, change no response.
function pathOf({ path: shown, content }: Exchange): string {
  const encoded = shown
    .replaceAll("…", "*")
    .replace(/[^!-~]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, "0").slice(-2)}`)
    .replace(storyPlaceholder, (whole) => `%7B${whole.slice(1, -1)}%7D`);
  const path = (encoded.startsWith("/") ? encoded : `/${encoded}`).slice(0, 1000);
  return content === undefined || content.query === "" ? path : `${path}?${content.query}`;
}

function contentOf({ contentType, idempotencyKey, body: { text } }: RequestContent): Partial<GivenRequest> {
  const isJson = contentType === "application/json";
  const body = text === "" ? undefined : ((isJson ? mappingIn(text) : undefined) ?? text);
  const isUsual =
    body === undefined || contentType === (typeof body === "string" ? undefined : "application/json");
  const headers = {
    ...(!isUsual && contentType !== undefined && { "Content-Type": contentType }),
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
  };
  return {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body: body as NonNullable<GivenRequest["body"]> }),
  };
}

// Deep values and unusual names stay text: scenarios cannot contain them.
function mappingIn(text: string): object | undefined {
  const value = parsedJson(text);
  const isSimple =
    (text.match(/[[{]/g) ?? []).length <= 16 && !/"(?:__proto__|constructor|prototype)"/.test(text);
  return isSimple && isMapping(value) ? value : undefined;
}

function expectationOf({ answer, delivery, fault, pathId, status }: Exchange): Expectation {
  const sent = sentAnswer(answer, delivery);
  const headers = telling(answer.headers);
  const body = sent.body === "" ? undefined : jsonOrText(sent.body);
  return {
    status,
    path: fault ?? pathId,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(body !== undefined && { body: body as NonNullable<Expectation["body"]> }),
  };
}

function jsonOrText(body: string): unknown {
  const json = parsedJson(body);
  return json === undefined ? body : json;
}

// Leaves out headers that follow from the request's number, the body or the usual form of a response.
function telling(pairs: readonly string[]): [name: string, value: string][] {
  const headers = new Map<string, [string, string]>();
  for (let i = 0; i < pairs.length; i += 2) {
    const name = pairs[i] as string;
    const value = pairs[i + 1] as string;
    const [first = name, earlier] = headers.get(name.toLowerCase()) ?? [];
    headers.set(name.toLowerCase(), [first, earlier === undefined ? value : `${earlier}, ${value}`]);
  }
  for (const name of ["x-request-id", "content-length", "x-sandbox-preview"]) headers.delete(name);
  if (headers.get("content-type")?.[1] === "application/json") headers.delete("content-type");
  return [...headers.values()];
}

/** Returns the step that repeats an operation; `undefined` if a story cannot contain it, as it changed nothing. */
export function operationStep(operation: RecordedOperation): CapturedStep | undefined {
  const { at, refusal } = operation;
  const action = actionOf(operation);
  if (action === undefined) return undefined;
  if (refusal === undefined) return { at, step: action };
  // Rejected for the call itself, not for the state of the sandbox.
  if (["validation_failed", "unknown_ref", "unknown_scope"].includes(refusal)) return undefined;
  return { at, step: { ...action, expect: { error: refusal as NonNullable<Expectation["error"]> } } };
}

function actionOf({ name, input, actor, at, made, consent }: RecordedOperation): Action | undefined {
  const given = input as Record<string, unknown>;
  const by = actor === undefined || actor === "administrator" ? {} : { actor };
  switch (name) {
    case "create_key": {
      const { expires, ref = made, ...rest } = given;
      const end =
        typeof expires === "string" || expires === undefined
          ? expires
          : isoOf(instantFrom(at, expires as Instant));
      return cleaned({ create_key: { ...rest, ref, expires: end, ...by } });
    }
    case "rotate": {
      const { key, as = made, overlap } = given;
      const length = overlap === undefined ? undefined : durationText(durationOf(overlap as string | number));
      return cleaned({ rotate: { key, as, overlap: length, ...by } });
    }
    case "revoke":
      return cleaned({ revoke: { ...given, ...by } });
    case "organization":
      // Stories contain no attempts by members and no empty changes.
      if (actor === "member" || Object.values(given).filter((value) => value !== undefined).length < 2)
        return undefined;
      return cleaned({ organization: given });
    case "consent":
      if (consent === undefined)
        return typeof given.farmer === "number" ? cleaned({ consent: given }) : undefined;
      return cleaned({
        consent: { farmer: consent.farmer, do: given.do, organization: consent.organization, id: consent.id },
      });
    case "faults":
      return cleaned({ faults: input });
    default:
      return cleaned({ [name]: given });
  }
}

// Calls may have fields that are `undefined`; scenarios have none.
function cleaned(action: object): Action {
  return JSON.parse(JSON.stringify(action));
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** Returns milliseconds as a scenario's duration: `90s`. */
export function durationText(milliseconds: number) {
  const [unit, length] =
    units.find(([, one]) => milliseconds !== 0 && milliseconds % one === 0) ?? (["ms", 1] as const);
  return `${milliseconds / length}${unit}` as const;
}

/**
 * Makes the story of captured steps since an instant; shows where the step of index `start` is, unless it is the first.
 * Equal requests with equal results at one instant become one step.
 */
export function storyOf(
  captured: readonly CapturedStep[],
  { since, start }: { readonly since: number; readonly start: number },
): StoryStep[] {
  const story: StoryStep[] = [];
  const advised = new Set<string>();
  let now = since;
  let last: StoryStep | undefined;
  for (const [index, { at, step, exchange }] of captured.entries()) {
    const isStart = index === start && index > 0;
    if (isStart) story.push({ say: "The capture starts here. Everything before is needed to repeat it." });
    const news = step.expect === undefined ? [] : (exchange?.advice ?? []).filter((id) => !advised.has(id));
    for (const id of news) advised.add(id);
    if (news.length > 0) story.push({ say: `The next request causes advice: ${adviceIn(news)}.` });
    const { repeat = 1, ...request } = last?.request ?? {};
    const isSame =
      at === now &&
      !isStart &&
      news.length === 0 &&
      step.request !== undefined &&
      JSON.stringify([step.request, step.expect]) === JSON.stringify([request, last?.expect]);
    if (isSame && last?.request !== undefined) last.request = { ...request, repeat: repeat + 1 };
    else {
      last = { ...(at > now && { after: durationText(at - now) }), ...structuredClone(step) };
      story.push(last);
    }
    now = at;
  }
  return story;
}

function adviceIn(ids: Exchange["advice"]): string {
  return adviceIds.filter((id) => ids.includes(id)).join(", ");
}
