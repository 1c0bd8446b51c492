import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, fetchControl } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ControlData, ShownReport, ShownRequest, ShownSentRequest } from "../control/responses.js";
import { linkTo, route } from "../control/route.js";
import { Button, lossOfState, ShowData } from "../elements/action.js";
import { saveFile } from "../elements/copy.js";
import { AdviceList, OutcomeBadge, SentResponse, Target, toneOf } from "../elements/request-parts.js";
import {
  capitalized,
  counted,
  DocsLink,
  FactList,
  fileName,
  Panel,
  Sentence,
  shortened,
  withoutExtension,
} from "../elements/words.js";
import { causeText, FixAndSend } from "./fix.js";
import { CopyCurl } from "./secret.js";

type ReportOutcome = ShownReport["outcomes"][number];

/** How many requests are read, and how many rejections are shown at most. */
const maxRead = 50;
const maxShown = 3;

/** The formats of the report, with the extensions of their files. */
const formats = { JSON: "json", Text: "txt", Markdown: "md", JUnit: "xml" };

/** The view: rejections and advice, what to do next, and the outcomes that are covered. */
export function OverviewView() {
  return (
    <>
      <h1>Overview</h1>
      <ShowData path="/report?story=true">{(report) => <Panels report={report} />}</ShowData>
    </>
  );
}

function Panels({ report }: Readonly<{ report: ShownReport }>) {
  const rejections = useRejections();
  const hasRejections = rejections.length > 0;
  const hasAdvice = report.advice.length > 0;
  const rejectionRows = rejections.map((request, index) => (
    <Rejection key={request.id} request={request} isFirst={index === 0} />
  ));
  return (
    <div class="with-aside overview">
      {(hasRejections || hasAdvice) && (
        <div class="stack gap problems">
          {hasRejections && (
            <Panel title="Last rejections">
              <ul class="list">{rejectionRows}</ul>
            </Panel>
          )}
          {hasAdvice && (
            <Panel title="Advice">
              <AdviceList advice={report.advice} inJournal={report.in_journal} />
            </Panel>
          )}
        </div>
      )}
      <NextStep report={report} isQuiet={hasRejections} />
      <Coverage report={report} />
      <Outcomes report={report} />
    </div>
  );
}

/** The last rejections of clients, newest first, each cause once. */
function useRejections(): readonly ShownRequest[] {
  const requests = useData(`/requests?source=client&limit=${maxRead}`).data ?? [];
  const rejections: ShownRequest[] = [];
  for (const request of requests.toReversed()) {
    const { outcome, key } = request;
    const hasSameCause = (other: ShownRequest) => other.outcome === outcome && other.key === key;
    const isRejected = /^(?:401|403|429)\./.test(outcome);
    if (isRejected && !rejections.some(hasSameCause)) rejections.push(request);
  }
  return rejections.slice(0, maxShown);
}

/** Why a client was rejected, with the buttons that fix it. Its place is kept while they are read. */
function Rejection({ request, isFirst }: { readonly request: ShownRequest; readonly isFirst: boolean }) {
  const { id, key, fingerprint, outcome } = request;
  const nobody = fingerprint === null ? "no key" : "no known key";
  const details = useData(`/requests/${encodeURIComponent(id)}`).data;
  return (
    <li class="stack">
      <p>
        <OutcomeBadge outcome={outcome} />{" "}
        <a href={linkTo("requests", [id])}>
          <Target request={request} max={80} />
        </a>{" "}
        with <strong>{key ?? nobody}</strong>: <br />
        {details ? <Sentence>{causeText(details)}</Sentence> : "…"}
      </p>
      {/* A fix is a button, but nothing fixes a request without a key of the sandbox. */}
      {key === null && (
        <p>
          <strong>What to do:</strong> {details?.advice_details[0]?.what_to_do ?? details?.what_to_do ?? "…"}
        </p>
      )}
      <FixAndSend request={request} isQuiet={!isFirst} />
    </li>
  );
}

/** The next outcome that clients have not covered, with the request that covers it. */
function NextStep({ report, isQuiet }: Readonly<{ report: ShownReport; isQuiet: boolean }>) {
  const { outcomes, from_story = {} } = report;
  const uncovered = outcomes.filter(({ covered, promised }) => promised && !covered);
  // One that the story and this page have not shown either, if there is one.
  const unseen = uncovered.find(({ outcome }) => from_story[outcome] === undefined);
  const next = unseen ?? uncovered[0];
  const { steps = 0 } = useData("/story").data ?? {};
  const story = steps > 0 && <a href={linkTo("story")}>Present the story</a>;
  if (next === undefined) {
    return (
      <Panel title="Next step" name="next" actions={story}>
        <p>Your clients have covered every promised outcome.</p>
      </Panel>
    );
  }
  return (
    <Panel title="Next step" name="next" actions={story}>
      <p>
        {unseen === undefined && "You have seen all outcomes. Your client has not sent "}
        <a href={linkTo("overview", [next.outcome])}>
          <OutcomeBadge outcome={next.outcome} />
        </a>
        : {next.when}.
      </p>
      <SendNow row={next} isQuiet={isQuiet} />
    </Panel>
  );
}

/** The share of promised outcomes that clients have covered, the other figures, and the report to save. */
function Coverage({ report }: Readonly<{ report: ShownReport }>) {
  const { requests, faults, scenario, unread } = report;
  const { percent, covered, promised } = report.coverage;
  const name = `report-${withoutExtension(fileName(scenario))}`;
  const downloads = Object.entries(formats).map(([title, extension]) => {
    // A link could not send the token.
    const download = async () => {
      saveFile(await fetchControl(`/report?format=${title.toLowerCase()}`), name, extension);
    };
    return (
      <Button key={title} class="quiet small" run={download}>
        {title}
      </Button>
    );
  });
  return (
    <Panel title="Coverage" name="coverage">
      <p class="figure">
        <strong>{percent}%</strong>{" "}
        <span class="muted">
          {covered} of {promised} outcomes
        </span>
      </p>
      <progress max={promised} value={covered} aria-label={`${covered} of ${promised} outcomes covered`} />
      <FactList
        class="pairs"
        facts={[
          ["Client requests", requests.toLocaleString("en")],
          ["Faults covered", `${faults.covered} of ${faults.total}`],
          ["Not waited for", unread > 0 && counted(unread, "delayed response")],
        ]}
      />
      <h3>Report</h3>
      <div class="bar">{downloads}</div>
      <Button
        class="quiet small"
        ask={{
          title: "Clear the requests?",
          text: "This discards the requests and the report.",
          action: "Clear them",
        }}
        run={() => fetchControl("/requests", { method: "DELETE" })}
      >
        Clear the requests
      </Button>
    </Panel>
  );
}

/** The request checks in order, each with its outcomes and their numbers of requests. An outcome opens below its check. */
function Outcomes({ report }: Readonly<{ report: ShownReport }>) {
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
function CheckList(props: {
  readonly requestChecks: ControlData["/request-checks"];
  readonly report: ShownReport;
}) {
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
  let state = "missing";
  if (sentHere > 0) state = "by-story";
  if (count > 0) state = "covered";
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

/** What reaches an outcome: a button that sends its request from this page, which is no client, and a line for a shell. */
function SendNow({ row, isQuiet }: Readonly<{ row: ReportOutcome; isQuiet: boolean }>) {
  const { outcome, how_to_cover: howToCover } = row;
  // Stays with the outcome that it was for when the row is about another one, because this one is covered.
  const [last, setLast] = useState<{ readonly outcome: string; readonly sent: ShownSentRequest }>();
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
