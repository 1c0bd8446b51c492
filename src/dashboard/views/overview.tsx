import { fetchControl } from "../control/call.js";
import { useData } from "../control/data.js";
import type { DirectoryPart, ReportOutcome, Request, ShownReport } from "../control/responses.js";
import { Button, Read } from "../elements/action.js";
import { saveFile } from "../elements/copy.js";
import { counted, fileName, withoutExtension } from "../elements/text.js";
import { AdviceList, OutcomeBadge, Target } from "../elements/traffic.js";
import { FactList, Panel, Sentence } from "../elements/words.js";
import { linkTo } from "../route.js";
import { activateOrganization, approveLiveAccess, causeText, FixAndSend } from "./fix.js";
import { KeyDialog, openDialog } from "./key-dialog.js";
import { Outcomes, SendNow } from "./outcomes.js";

/** How many requests are read, and how many rejections are shown at most. */
const maxRead = 50;
const maxShown = 3;

/** The formats of the report, with the extensions of their files. */
const formats = { JSON: "json", Text: "txt", Markdown: "md", JUnit: "xml" };

/** The view: rejections and advice, what to do next, and the outcomes that are covered. */
export function OverviewView() {
  const rejections = useRejections();
  const hasRejections = rejections.length > 0;
  const rows = rejections.map((request, index) => {
    const above = rejections.find(({ outcome }) => outcome === request.outcome);
    return (
      <Rejection
        key={request.id}
        request={request}
        above={above === request ? undefined : above}
        isFirst={index === 0}
      />
    );
  });
  const parts = (report: ShownReport) => (
    <div class="with-aside overview">
      <div class="stack gap">
        {hasRejections && (
          <Panel title="Last rejections">
            <ul class="list">{rows}</ul>
          </Panel>
        )}
        {report.advice.length > 0 && (
          <Panel title="Advice">
            <AdviceList advice={report.advice} inJournal={report.in_journal} />
          </Panel>
        )}
      </div>
      <NextStep report={report} isQuiet={hasRejections} />
      <Coverage report={report} />
      <Outcomes report={report} />
    </div>
  );
  return (
    <>
      <h1>Overview</h1>
      <Read path="/report?story=true">{parts}</Read>
      <KeyDialog />
    </>
  );
}

/** The last rejections of clients, newest first, each cause once. */
function useRejections(): readonly Request[] {
  const requests = useData(`/requests?source=client&limit=${maxRead}`).data ?? [];
  const rejections: Request[] = [];
  for (const request of requests.toReversed()) {
    const { outcome, key } = request;
    const hasSameCause = (other: Request) => other.outcome === outcome && other.key === key;
    const isRejected = /^(?:401|403|429)\./.test(outcome);
    if (isRejected && !rejections.some(hasSameCause)) rejections.push(request);
  }
  return rejections.slice(0, maxShown);
}

interface RejectionProps {
  readonly request: Request;
  /** A rejection above it with the same outcome. */
  readonly above: Request | undefined;
  readonly isFirst: boolean;
}

/** Why a client was rejected, with the buttons that fix it. Its place is kept while they are read. */
function Rejection({ request, above, isFirst }: RejectionProps) {
  const { id, key, fingerprint, outcome } = request;
  const nobody = fingerprint === null ? "no key" : "no known key";
  const details = useData(`/requests/${encodeURIComponent(id)}`).data;
  const open = (sent: string) => {
    location.hash = linkTo("requests", [sent]);
  };
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
      <FixAndSend request={request} above={above} onSent={open} isQuiet={!isFirst} />
    </li>
  );
}

/** The next outcome that clients have not covered, with its request, or the change that it requires. */
function NextStep({ report, isQuiet }: Readonly<{ report: ShownReport; isQuiet: boolean }>) {
  const { outcomes, from_story = {} } = report;
  const uncovered = outcomes.filter(({ covered, promised }) => promised && !covered);
  // Those that the story and this page have not shown either come first.
  const unseen = uncovered.find(({ outcome }) => from_story[outcome] === undefined);
  const next = unseen ?? uncovered[0];
  const change = useRequiredChange(next);

  const story = useData("/story").data?.steps ? <a href={linkTo("story")}>Present the story</a> : null;
  if (next === undefined) {
    return (
      <Panel title="Next step" name="next" actions={story}>
        <p>Your clients have covered every promised outcome.</p>
      </Panel>
    );
  }
  // Without a button, words are all there is.
  const how = next.how_to_cover;
  const needsWords = how?.scopes && how.text;
  return (
    <Panel title="Next step" name="next" actions={story}>
      <p>
        {unseen === undefined && "You have seen all outcomes. Your client has not sent "}
        <a href={linkTo("overview", [next.outcome])}>
          <OutcomeBadge outcome={next.outcome} />
        </a>
        : {change?.text ?? needsWords ?? next.when}.
      </p>
      {change ? (
        <Button class={isQuiet ? "quiet" : ""} run={change.run}>
          {change.label}
        </Button>
      ) : (
        <SendNow row={next} isQuiet={isQuiet} />
      )}
    </Panel>
  );
}

/** The change that lets a key of the running scenario get a success that none of them gets; `undefined` if none is required. */
function useRequiredChange(next: ReportOutcome | undefined) {
  const { sections = [] } = useData("/directory?limit=20").data ?? {};
  const environment = /^200\.(test|live)$/.exec(next?.outcome ?? "")?.[1] as "test" | "live" | undefined;
  // The way to cover it is another scenario only if no key of this one gets it.
  if (!environment || !next?.how_to_cover?.scenario) return undefined;

  // Of the organizations, one that has such a key already is the likelier one.
  const hasKey = ({ keys }: DirectoryPart) => keys.some((key) => key.environment === environment);
  const section = sections.find(hasKey) ?? sections[0];
  if (section === undefined) return undefined;
  const { ref, status, live_access } = section.organization;

  // Of an inactive organization, and without live access, no key works: that comes first.
  let label = "Create a key";
  let run: () => unknown = () => openDialog({ kind: "create", organization: ref, environment });
  let fix: typeof activateOrganization | undefined;
  if (status === "inactive") fix = activateOrganization;
  else if (environment === "live" && live_access !== "approved") fix = approveLiveAccess;
  if (fix !== undefined) {
    const { run: runFix } = fix;
    label = fix.label;
    run = () => runFix({ organization: ref });
  }
  const text = `${label.toLowerCase()} (${ref}), then send a ${environment} key`;
  return { label, text, run };
}

/** The share of promised outcomes that clients have covered, the other figures, and the report to save. */
function Coverage({ report }: Readonly<{ report: ShownReport }>) {
  const { requests, faults, scenario, unread } = report;
  const { percent, covered, promised } = report.coverage;
  const name = `report-${withoutExtension(fileName(scenario))}`;
  const downloads = Object.entries(formats).map(([title, extension]) => {
    const save = () => download(title.toLowerCase(), name, extension);
    return (
      <Button key={title} class="quiet small" run={save}>
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

/** Saves the report. A link could not send the token. */
async function download(format: string, name: string, extension: string): Promise<void> {
  const response = await fetchControl(`/report?format=${format}`);
  saveFile(await response.blob(), name, extension);
}
