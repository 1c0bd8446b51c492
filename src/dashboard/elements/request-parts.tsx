import type { ComponentChildren } from "preact";
import type {
  ShownReport,
  ShownRequest,
  ShownRequestDetails,
  ShownSentRequest,
} from "../control/responses.js";
import { linkTo } from "../control/route.js";
import { counted, DocsLink, shortened } from "./words.js";

/** Advice of the report, or of one request, which has no count and no examples. */
type ShownAdvice = Omit<ShownReport["advice"][number], "count" | "examples"> &
  Partial<ShownReport["advice"][number]>;

const tones: Readonly<Record<string, string>> = { 2: "success", 401: "key", 403: "access", 429: "limit" };

/** The kind of an outcome, which sets its color. It depends on the status in the outcome. */
export function toneOf(outcome: string): string {
  if (outcome.startsWith("fault")) return "fault";
  return tones[outcome.slice(0, 3)] ?? tones[outcome.slice(0, 1)] ?? "other";
}

export function OutcomeBadge({ outcome }: Readonly<{ outcome: string }>) {
  return <code class={`toned tone-${toneOf(outcome)}`}>{outcome}</code>;
}

/** How a request ended, with a link to the faults if one of them changed or delayed the response. */
export function OutcomeText(props: {
  readonly of: Pick<ShownRequest, "status" | "code" | "outcome" | "fault">;
  /** After the outcome. */
  readonly children?: ComponentChildren;
}) {
  const { of, children } = props;
  const { status, code, outcome, fault } = of;
  const statusText = status === 0 ? "No response" : status;
  return (
    <>
      <strong class={`status toned tone-${toneOf(outcome)}`}>{statusText}</strong> <code>{code}</code>{" "}
      <OutcomeBadge outcome={outcome} />
      {children}
      {fault && (
        <>
          {fault !== outcome && `, delayed by ${fault}`},{" "}
          <a href={linkTo("sandbox", ["faults"])}>by a fault of this sandbox</a>
        </>
      )}
    </>
  );
}

/** The method and path of a request; a long path is shortened. */
export function Target(props: {
  readonly request: Pick<ShownRequest, "method" | "path">;
  readonly max?: number;
}) {
  const { request, max = 300 } = props;
  return (
    <bdi>
      <code>
        {request.method} {shortened(request.path, max)}
      </code>
    </bdi>
  );
}

/** The response to a request that this page sent. */
export function SentResponse({ sent }: Readonly<{ sent: ShownSentRequest }>) {
  const { request, response } = sent;
  return (
    <>
      <p>
        Result: <OutcomeText of={request} />. <a href={linkTo("requests", [request.id])}>Open the request</a>
      </p>
      {response && <BodyText text={response.body} />}
    </>
  );
}

/** The tones of the levels, the most severe one first. */
export const adviceTones = { error: "key", warning: "limit", note: "other" } as const;

/** Advice on one line each. Opened, it shows the rule, how to fix the client, and the affected requests. */
export function AdviceList(props: {
  readonly advice: readonly ShownAdvice[];
  readonly inJournal?: ShownReport["in_journal"];
}) {
  const { advice, inJournal = {} } = props;
  const rows = advice.map(({ id, level, rule, meaning, what_to_do, examples = [] }) => {
    const example = examples.find(({ did_you_mean }) => did_you_mean !== null);
    const hint = example && `Did you mean ${example.did_you_mean}?`;
    const count = inJournal[id];
    return (
      <li key={id} class={`advice tone-${adviceTones[level]}`}>
        <details>
          <summary>
            <span class="badge toned">{level}</span> <strong>{id}</strong> {meaning}
          </summary>
          <p>
            <strong>What to do:</strong> {what_to_do} {hint}
          </p>
          <p class="muted">
            Rule: {rule} <DocsLink to="report#advice">About advice</DocsLink>
          </p>
        </details>
        {count && <a href={linkTo("requests", [], { filter: id })}>Show {counted(count, "request")}</a>}
      </li>
    );
  });
  return <ul class="stack">{rows}</ul>;
}

const resultWords = { passed: "passed", rejected: "rejected", not_reached: "not reached" };
const marks = { passed: "✓ ", rejected: "✗ ", not_reached: "" } as const;

/** The request checks in their order, with the results of one request, which ended at an outcome. */
export function CheckStrip({
  checks,
  outcome,
}: {
  readonly checks: ShownRequestDetails["checks"];
  readonly outcome: string;
}) {
  return (
    <ol class="strip" aria-label="Request checks">
      {checks.map(({ name, question, rules, result }) => (
        <li key={name} class={`${result} tone-${toneOf(outcome)}`} title={`${question} ${rules}`}>
          <span aria-hidden="true">{marks[result]}</span>
          {name}
          <span class="visually-hidden">: {resultWords[result]}</span>
        </li>
      ))}
    </ol>
  );
}

/** A text with more characters would slow the browser down. */
const maxShown = 20_000;

/** The body of a request or response. JSON is laid out; other text is unchanged. */
export function BodyText({ text }: Readonly<{ text: string }>) {
  if (text === "") return null;
  const lines = laidOut(text);
  const cutLength = lines.length - maxShown;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling requires focus for keyboard users
    <pre class="code" tabIndex={0}>
      <bdi>{lines.slice(0, maxShown)}</bdi>
      {cutLength > 0 && (
        <span class="muted">{`\n… and ${cutLength.toLocaleString("en")} more characters`}</span>
      )}
    </pre>
  );
}

/** An object or list that contains no other one, and is short enough for a line of a narrow window. In JSON, only the layout has lines. */
const innermost = /[[{]\n[^[\]{}]{1,72}[\]}]/g;

/** JSON in lines, of which one without an object or list inside is short. Text that would not keep its values is unchanged. */
function laidOut(text: string): string {
  // With many levels, spaces would be most of it.
  const mayBeDeep = text.split(/[[{]/).length > 1000;
  try {
    const value = JSON.parse(text);
    const isSame = JSON.stringify(value) === text;
    if (!isSame || mayBeDeep) return text;
    const lines = JSON.stringify(value, null, 2);
    return lines.replace(innermost, (inner) => inner.replace(/\n\s*/g, " "));
  } catch {
    return text;
  }
}
