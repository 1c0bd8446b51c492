import { fetchControl } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ShownReport, ShownRequest } from "../control/responses.js";
import { linkTo } from "../control/route.js";
import { Button, ShowData } from "../elements/action.js";
import { saveFile } from "../elements/copy.js";
import { AdviceList, OutcomeBadge, Target } from "../elements/request-parts.js";
import { counted, fileName, withoutExtension } from "../elements/text.js";
import { FactList, Panel, Sentence } from "../elements/words.js";
import { causeText, FixAndSend } from "./fix.js";
import { Outcomes, SendNow } from "./outcomes.js";

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
  return (
    <div class="with-aside overview">
      {(hasRejections || hasAdvice) && (
        <div class="stack gap problems">
          {hasRejections && <LastRejections rejections={rejections} />}
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

function LastRejections({ rejections }: Readonly<{ rejections: readonly ShownRequest[] }>) {
  const rows = rejections.map((request, index) => (
    <Rejection key={request.id} request={request} isFirst={index === 0} />
  ));
  return (
    <Panel title="Last rejections">
      <ul class="list">{rows}</ul>
    </Panel>
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
  const { next, isSeen } = nextOutcome(report);
  const story = useData("/story").data?.steps ? <a href={linkTo("story")}>Present the story</a> : null;
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
        {isSeen && "You have seen all outcomes. Your client has not sent "}
        <a href={linkTo("overview", [next.outcome])}>
          <OutcomeBadge outcome={next.outcome} />
        </a>
        : {next.when}.
      </p>
      <SendNow row={next} isQuiet={isQuiet} />
    </Panel>
  );
}

/** The first outcome that clients have not covered: one that the story and this page have not shown either, if there is one. */
function nextOutcome({ outcomes, from_story = {} }: ShownReport) {
  const uncovered = outcomes.filter(({ covered, promised }) => promised && !covered);
  const unseen = uncovered.find(({ outcome }) => from_story[outcome] === undefined);
  return { next: unseen ?? uncovered[0], isSeen: unseen === undefined };
}

/** The share of promised outcomes that clients have covered, the other figures, and the report to save. */
function Coverage({ report }: Readonly<{ report: ShownReport }>) {
  const { requests, faults, scenario, unread } = report;
  const { percent, covered, promised } = report.coverage;
  const name = `report-${withoutExtension(fileName(scenario))}`;
  const downloads = Object.entries(formats).map(([title, extension]) => (
    <Button key={title} class="quiet small" run={() => download(title.toLowerCase(), name, extension)}>
      {title}
    </Button>
  ));
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

/** Saves the report. A link could not send the token. */
async function download(format: string, name: string, extension: string): Promise<void> {
  const response = await fetchControl(`/report?format=${format}`);
  saveFile(await response.blob(), name, extension);
}
