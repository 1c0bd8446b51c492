import { fetchControl } from "../control/call.js";
import { useData } from "../control/data.js";
import type { DirectoryPart, ReportOutcome, Request, ShownReport } from "../control/responses.js";
import { Button, Read } from "../elements/action.js";
import { saveFile } from "../elements/copy.js";
import { AdviceList, OutcomeBadge, Target } from "../elements/traffic.js";
import { counted, FactList, Panel, Sentence } from "../elements/words.js";
import { linkTo } from "../route.js";
import { activate, approve, causeText, FixAndSend } from "./fix.js";
import { KeyDialog, openDialog } from "./key-dialog.js";
import { Outcomes, SendNow } from "./outcomes.js";

export function OverviewView() {
  const rejections = useRejections();
  return (
    <>
      <h1>Overview</h1>
      <Read path="/report?story=true">
        {(data) => (
          <div class="with-aside overview">
            <div class="stack gap">
              {rejections.length === 0 ? null : (
                <Panel title="Last rejections">
                  <ul class="list">
                    {rejections.map((request, index) => (
                      <Rejection key={request.id} request={request} isFirst={index === 0} />
                    ))}
                  </ul>
                </Panel>
              )}
              {data.advice.length === 0 ? null : (
                <Panel title="Advice">
                  <AdviceList advice={data.advice} inJournal={data.in_journal} />
                </Panel>
              )}
            </div>
            <NextStep report={data} isQuiet={rejections.length > 0} />
            <Coverage report={data} />
            <Outcomes report={data} />
          </div>
        )}
      </Read>
      <KeyDialog />
    </>
  );
}

const maxRead = 50;
const maxShown = 3;

/** The last rejections of clients, newest first, each cause once. */
function useRejections(): readonly Request[] {
  const read = useData(`/requests?source=client&limit=${maxRead}`).data ?? [];
  const rejected = read.toReversed().filter(({ outcome: id }) => /^(?:401|403|429)\./.test(id));
  const isFirst = ({ outcome, key }: Request, index: number) =>
    rejected.findIndex((other) => other.outcome === outcome && other.key === key) === index;
  return rejected.filter(isFirst).slice(0, maxShown);
}

/** Why a client was rejected, with the buttons that fix it. All have their place before they are read. */
function Rejection({ request, isFirst }: { readonly request: Request; readonly isFirst: boolean }) {
  const { id, key, fingerprint, outcome } = request;
  const name = key ?? (fingerprint === null ? "no key" : "no known key");
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
        with <strong>{name}</strong>: <br />
        {details ? <Sentence>{causeText(details)}</Sentence> : "…"}
      </p>
      <FixAndSend request={request} onSent={open} isQuiet={!isFirst} />
    </li>
  );
}

/** The next outcome that clients have not covered, with its request, or the change that it requires. */
function NextStep({ report, isQuiet }: Readonly<{ report: ShownReport; isQuiet: boolean }>) {
  const { outcomes, from_story: fromStory = {} } = report;
  const missing = outcomes.filter(({ covered, promised }) => promised && !covered);
  const unseen = missing.find(({ outcome: id }) => fromStory[id] === undefined);
  const present = useData("/story").data?.steps ? <a href={linkTo("story")}>Present the story</a> : null;
  const next = unseen ?? missing[0];
  const help = useHelp(next);
  return (
    <Panel title="Next step" name="next" actions={present}>
      {next === undefined ? (
        <p>Your clients have covered every promised outcome.</p>
      ) : (
        <>
          <p>
            {unseen === undefined && "You have seen all outcomes. Your client has not sent "}
            <a href={linkTo("overview", [next.outcome])}>
              <OutcomeBadge outcome={next.outcome} />
            </a>
            : {help?.text ?? next.how_to_cover?.text ?? next.when}.
          </p>
          {help ? (
            <Button class={isQuiet ? "quiet" : ""} run={help.run}>
              {help.label}
            </Button>
          ) : (
            <SendNow row={next} isQuiet={isQuiet} />
          )}
        </>
      )}
    </Panel>
  );
}

/** What makes a success possible in the running scenario, which has no key for it: each of its organizations can have one. */
function useHelp(next: ReportOutcome | undefined) {
  const { sections = [] } = useData("/directory?limit=20").data ?? {};
  const environment = /^200\.(test|live)$/.exec(next?.outcome ?? "")?.[1] as "test" | "live" | undefined;
  const hasKey = ({ keys }: DirectoryPart) => keys.some((key) => key.environment === environment);
  const { organization } = sections.find(hasKey) ?? sections[0] ?? {};
  if (!next?.how_to_cover?.scenario || !environment || !organization) return undefined;
  const { ref, status, live_access: access } = organization;
  const create = () => openDialog({ kind: "create", organization: ref, environment });
  const needsApproval = environment === "live" && access !== "approved";
  const fix = status === "inactive" ? activate : needsApproval && approve;
  const { label, run } = fix || { label: "Create a key", run: create };
  const text = `${label.toLowerCase()} (${ref}), then send a ${environment} key`;
  return { label, text, run: () => run({ organization: ref }) };
}

/** The formats of the report, with the extensions of their files. */
const formats = { JSON: "json", Text: "txt", Markdown: "md", JUnit: "xml" };

/** The share of promised outcomes that clients have covered, the other figures, and the report to save. */
function Coverage({ report }: Readonly<{ report: ShownReport }>) {
  const { coverage, requests, faults: hit, scenario, unread } = report;
  const { percent, covered, promised } = coverage;
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
        of={[
          ["Client requests", requests.toLocaleString("en")],
          ["Faults covered", `${hit.covered} of ${hit.total}`],
          ["Not waited for", unread === 0 ? null : counted(unread, "delayed response")],
        ]}
      />
      <h3>Report</h3>
      <div class="bar">
        {Object.entries(formats).map(([title, extension]) => (
          <Button
            key={title}
            class="quiet small"
            run={() => download(title.toLowerCase(), `report-${scenario}`, extension)}
          >
            {title}
          </Button>
        ))}
      </div>
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

// A link could not send the token.
async function download(format: string, name: string, extension: string): Promise<void> {
  const response = await fetchControl(`/report?format=${format}`);
  saveFile(await response.blob(), name, extension);
}
