import { fetchControl } from "../control/call.js";
import { useData } from "../control/data.js";
import type { Request, ShownReport } from "../control/responses.js";
import { Button, Read } from "../elements/action.js";
import { saveFile } from "../elements/copy.js";
import { AdviceList, OutcomeBadge, Target } from "../elements/traffic.js";
import { counted, FactList, Panel, Sentence } from "../elements/words.js";
import { linkTo } from "../route.js";
import { causeText, FixAndSend } from "./fix.js";
import { KeyDialog, openDialog } from "./key-dialog.js";
import { Outcomes, SendNow } from "./outcomes.js";

export function OverviewView() {
  const rejections = useRejections();
  return (
    <>
      <h1>Overview</h1>
      <Read path="/report?story=true">
        {(data) => (
          <div class="with-aside">
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
              <NextStep report={data} isQuiet={rejections.length > 0} />
            </div>
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

/** The next outcome that clients have not covered, with its request, or the fault that prevents it */
function NextStep({ report, isQuiet }: Readonly<{ report: ShownReport; isQuiet: boolean }>) {
  const { outcomes, from_story: fromStory = {} } = report;
  const missing = outcomes.filter(({ covered, promised }) => promised && !covered);
  const unseen = missing.find(({ outcome: id }) => fromStory[id] === undefined);
  const present = useData("/story").data?.steps ? <a href={linkTo("story")}>Present the story</a> : null;
  const next = unseen ?? missing[0];
  const [first] = useData("/directory?limit=1").data?.sections ?? [];
  // Every organization can have a key that works.
  const owner = next?.outcome === "200.test" && next.how_to_cover?.scenario && first;
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
            : {owner ? "create a key, and send it" : (next.how_to_cover?.text ?? next.when)}.
          </p>
          {owner ? (
            <Button
              class={isQuiet ? "quiet" : ""}
              run={() => openDialog({ kind: "create", organization: owner.organization.ref })}
            >
              Create a key
            </Button>
          ) : (
            <SendNow row={next} isQuiet={isQuiet} />
          )}
        </>
      )}
    </Panel>
  );
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
