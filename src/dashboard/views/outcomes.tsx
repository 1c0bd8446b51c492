import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../control/call.js";
import type { ReportOutcome, RequestChecks, ShownReport, ShownSentRequest } from "../control/responses.js";
import { linkTo, route } from "../control/route.js";
import { Button, lossOfState, ShowData } from "../elements/action.js";
import { OutcomeBadge, SentResponse, toneOf } from "../elements/request-parts.js";
import { capitalized, shortened } from "../elements/text.js";
import { DocsLink, Panel } from "../elements/words.js";
import { CopyCurl } from "./secret.js";

/** The request checks in order, each with its outcomes and their numbers of requests. An outcome opens below its check. */
export function Outcomes({ report }: Readonly<{ report: ShownReport }>) {
  const open = route.value.parts[0];
  const isMissing = open !== undefined && report.outcomes.every(({ outcome }) => outcome !== open);
  return (
    <Panel
      title="Request checks"
      name="checks"
      note="Filled: covered by clients. Ring: only by the story or this page (in parentheses). Dashed: not covered; open it to see how."
    >
      {isMissing && (
        <p class="panel muted">
          There is no outcome <bdi>{shortened(open, 100)}</bdi>.
        </p>
      )}
      <ShowData path="/request-checks">
        {(checks) => <CheckList requestChecks={checks} report={report} />}
      </ShowData>
    </Panel>
  );
}

/** A list with the request checks, and what comes before and after them. */
function CheckList(props: { readonly requestChecks: RequestChecks; readonly report: ShownReport }) {
  const { requestChecks, report } = props;
  const { faults, successes } = requestChecks;
  const checks = [
    { name: "faults", question: "Does a fault match the request?", rules: "", exits: faults },
    ...requestChecks.checks,
    { name: "passed", question: "All checks passed: the endpoint responds.", rules: "", exits: successes },
  ];
  const open = route.value.parts[0];
  const rows = checks.map(({ name, question, rules, exits }) => {
    const openRow = report.outcomes.find(({ outcome }) => outcome === open && exits.includes(outcome));
    return (
      <li key={name}>
        <strong>{capitalized(name)}</strong>
        <span class="muted small">
          {question} {rules}
        </span>
        <ul class="bar exits" aria-label={`Outcomes of ${name}`}>
          {exits.map((outcome) => (
            <li key={outcome}>
              <OutcomeLink outcome={outcome} report={report} isOpen={outcome === openRow?.outcome} />
            </li>
          ))}
        </ul>
        {openRow && <OpenOutcome key={openRow.outcome} row={openRow} report={report} />}
      </li>
    );
  });
  return (
    <ol class="checks" aria-label="Request checks">
      {rows}
    </ol>
  );
}

/** A link with an outcome and its numbers of requests, which opens or closes it. */
function OutcomeLink(props: {
  readonly outcome: string;
  readonly report: ShownReport;
  readonly isOpen: boolean;
}) {
  const { outcome, report, isOpen } = props;
  const count = report.outcomes.find((row) => row.outcome === outcome)?.count ?? 0;
  const sentHere = report.from_story?.[outcome] ?? 0;
  const uncovered = sentHere > 0 ? "by-story" : "missing";
  const state = count > 0 ? "covered" : uncovered;
  return (
    <a
      class={`exit tone-${toneOf(outcome)} exit-${state}`}
      href={linkTo("overview", isOpen ? [] : [outcome])}
      aria-current={isOpen}
      data-outcome={outcome}
    >
      <code>{outcome}</code> {count > 0 && count.toLocaleString("en")}{" "}
      {sentHere > 0 && `(${sentHere.toLocaleString("en")})`}
      {state === "missing" && <span class="visually-hidden">not covered</span>}
    </a>
  );
}

/** What an outcome means, who has covered it, and how to. It gets the focus; Escape closes it. */
function OpenOutcome({ row, report }: Readonly<{ row: ReportOutcome; report: ShownReport }>) {
  const { outcome, when, count, how_to_cover } = row;
  const sentHere = report.from_story?.[outcome] ?? 0;
  const hasRequests = report.in_journal?.[outcome];

  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    section.current?.focus({ preventScroll: true });
    section.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const close = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    document.querySelector<HTMLElement>('.exit[aria-current="true"]')?.focus();
    location.hash = linkTo("overview");
  };
  return (
    <section
      class="stack outcome"
      aria-label={`Outcome ${outcome}`}
      ref={section}
      tabIndex={-1}
      onKeyDown={close}
    >
      <p>
        <OutcomeBadge outcome={outcome} />: {when}. Client requests: {count.toLocaleString("en")}. Story and
        this page: {sentHere.toLocaleString("en")}.
      </p>
      {how_to_cover && (
        <p>
          <strong>How to cover it:</strong> {how_to_cover.text}.
        </p>
      )}
      <SendNow row={row} isQuiet />
      <p class="bar">
        {hasRequests && <a href={linkTo("requests", [], { filter: outcome })}>Show these requests</a>}
        <DocsLink to="errors#all-outcomes">About the outcomes</DocsLink>
      </p>
    </section>
  );
}

/** The request that was sent last, and its response. */
interface SentFor {
  /** The outcome that it was for: the row may be about another one by now. */
  readonly outcome: string;
  readonly sent: ShownSentRequest;
}

/** What reaches an outcome: a button that sends its request from this page, which is no client, and a line for a shell. */
export function SendNow({ row, isQuiet }: Readonly<{ row: ReportOutcome; isQuiet: boolean }>) {
  const { outcome, how_to_cover: howToCover } = row;
  // Stays when the report has another request, because this one has covered its outcome.
  const [last, setLast] = useState<SentFor>();
  // Nothing reaches it for certain.
  if (howToCover === null) return null;
  const { ref, request, scenario, reset, curl } = howToCover;
  if (scenario !== null) {
    // No key of the running scenario gets it, but any scenario can have such a key.
    const isSuccess = toneOf(outcome) === "success";
    if (isSuccess) return <a href={linkTo("keys")}>Create a key, or change what its organization may do</a>;
    return <a href={linkTo("sandbox", ["scenario"])}>Load {scenario}, which has this outcome</a>;
  }

  const send = async () => {
    setLast(undefined);
    if (reset) await call("/reset", { method: "POST" });
    const body = { key: ref, ...request };
    setLast({ outcome, sent: await call<ShownSentRequest>("/send", { method: "POST", body }) });
  };
  const ask = { title: "Reset, then send it?", text: lossOfState, action: "Send it" };
  return (
    <>
      <div class="bar">
        <Button class={isQuiet ? "quiet" : ""} run={send} ask={reset ? ask : undefined}>
          {reset ? "Reset, then send it" : "Send it now"}
        </Button>
        {/* Without the reset, it would not cover the outcome. */}
        {!reset && <CopyCurl keyRef={ref} curl={curl} />}
      </div>
      <output class="stack">
        {last && (
          <>
            <strong>
              Sent for <OutcomeBadge outcome={last.outcome} />
            </strong>
            <SentResponse sent={last.sent} />
          </>
        )}
      </output>
    </>
  );
}
