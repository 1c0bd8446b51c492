import type { ComponentChildren } from "preact";
import type {
  Request,
  ShownAdvice,
  ShownReport,
  ShownRequestDetails,
  ShownSentRequest,
} from "../control/responses.js";
import { linkTo } from "../route.js";
import { counted, DocsLink, shortened } from "./words.js";

const tones: Readonly<Record<string, string>> = { 2: "success", 401: "key", 403: "access", 429: "limit" };

/** The kind of an outcome, which sets its color. It depends on the status in the outcome. */
export function toneOf(outcome: string): string {
  if (outcome.startsWith("fault")) return "fault";
  return tones[outcome.slice(0, 3)] ?? tones[outcome.slice(0, 1)] ?? "other";
}

export function OutcomeBadge({ outcome }: Readonly<{ outcome: string }>) {
  return <code class={`toned tone-${toneOf(outcome)}`}>{outcome}</code>;
}

interface OutcomeProps {
  readonly of: Pick<Request, "status" | "code" | "outcome" | "fault">;
  /** After the outcome. */
  readonly children?: ComponentChildren;
}

/** How a request ended, with a link to the faults if one of them changed or delayed the response. */
export function OutcomeText({ of: { status, code, outcome, fault }, children }: OutcomeProps) {
  return (
    <>
      <strong class={`status toned tone-${toneOf(outcome)}`}>{status === 0 ? "No response" : status}</strong>{" "}
      <code>{code}</code> <OutcomeBadge outcome={outcome} />
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
export function Target({
  request: { method, path },
  max = 300,
}: Readonly<{ request: Pick<Request, "method" | "path">; max?: number }>) {
  return (
    <bdi>
      <code>
        {method} {shortened(path, max)}
      </code>
    </bdi>
  );
}

/** The response to a request that this page sent. */
export function SentResponse({ sent: { request, response } }: Readonly<{ sent: ShownSentRequest }>) {
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

interface AdviceListProps {
  readonly advice: readonly ShownAdvice[];
  readonly inJournal?: ShownReport["in_journal"];
}

/** Advice on one line each. Opened, it shows the rule, how to fix the client, and the affected requests. */
export function AdviceList({ advice, inJournal = {} }: AdviceListProps) {
  return (
    <ul class="stack">
      {advice.map(({ id, level, rule, meaning, what_to_do, examples = [] }) => {
        const hint = examples.find(({ did_you_mean: near }) => near !== null)?.did_you_mean;
        return (
          <li key={id} class={`advice tone-${adviceTones[level]}`}>
            <details>
              <summary>
                <span class="badge toned">{level}</span> <strong>{id}</strong> {meaning}
              </summary>
              <p>
                <strong>What to do:</strong> {what_to_do} {hint && `Did you mean ${hint}?`}
              </p>
              <p class="muted">
                Rule: {rule} <DocsLink to="report#advice">About advice</DocsLink>
              </p>
            </details>
            {inJournal[id] && (
              <a href={linkTo("requests", [], { filter: id })}>Show {counted(inJournal[id], "request")}</a>
            )}
          </li>
        );
      })}
    </ul>
  );
}

type Results = ShownRequestDetails["checks"];

const resultWords = { passed: "passed", rejected: "rejected", not_reached: "not reached" };
const marks = { passed: "✓ ", rejected: "✗ ", not_reached: "" } as const;

/** The request checks in their order, with the results of one request, which ended at an outcome. */
export function CheckStrip({ checks, outcome }: { readonly checks: Results; readonly outcome: string }) {
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
  const shown = laidOut(text);
  const rest = shown.length - maxShown;
  if (text === "") return null;
  return (
    <pre class="code">
      <bdi>{shown.slice(0, maxShown)}</bdi>
      {rest > 0 && <span class="muted">{`\n… and ${rest.toLocaleString("en")} more characters`}</span>}
    </pre>
  );
}

function laidOut(text: string): string {
  try {
    // The innermost objects and lists are on one line.
    return JSON.stringify(JSON.parse(text), null, 2).replace(/[[{]\n[^[\]{}]{1,90}[\]}]/g, (inner) =>
      inner.replace(/\n\s*/g, " "),
    );
  } catch {
    return text;
  }
}
