import { fetchControl } from "../../control/call.js";
import { turnOff } from "../../control/faults.js";
import { reportFiles } from "../../control/report-formats.generated.js";
import { useResources } from "../../control/resource.js";
import { faults, report, requestChecks, story } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { Fact } from "../../elements/fact.js";
import { ActionButton } from "../../elements/forms/action.js";
import { AskButton } from "../../elements/forms/ask.js";
import { Read } from "../../elements/read.js";
import { saveFile } from "../../elements/save-file.js";
import { AdviceList } from "../../elements/traffic/advice.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { capitalized, counted } from "../../elements/words.js";
import { linkTo, route } from "../../route.js";
import { PathDetail } from "./path-detail.js";
import { Rejections, useRejections } from "./rejections.js";
import { RequestChecks } from "./request-checks.js";
import { SendNow } from "./send-now.js";

export function OverviewView() {
  // In parallel, because the checks are drawn when both have arrived.
  useResources(requestChecks, story, faults);
  return (
    <>
      <h1>Overview</h1>
      <Read of={report}>
        {(read) => {
          const opened = read.paths.find(({ path_id: id }) => id === route.value.parts[0]);
          return (
            <div class={opened === undefined ? "split" : "split with-detail"}>
              <div class="stack">
                <section class="panel overview-start" aria-labelledby="coverage-title">
                  <Coverage report={read} />
                  <NextSteps report={read} />
                </section>
                <RequestChecks report={read} />
                <WholeReport {...read} />
              </div>
              {opened === undefined ? null : <PathDetail path={opened} report={read} />}
            </div>
          );
        }}
      </Read>
    </>
  );
}

/** The share of promised paths that clients have covered, and the other figures. */
function Coverage({ report: read }: { readonly report: Shown<"Report"> }) {
  const { coverage, requests, faults: ofFaults } = read;
  const { percent, covered, promised } = coverage;
  return (
    <div class="stack">
      <h2 id="coverage-title">Coverage</h2>
      <p>
        <strong class="large">{percent}%</strong> {covered} of {promised} paths
      </p>
      <progress
        max={promised}
        value={covered}
        aria-label={`Coverage ${percent}%: ${covered} of ${promised} promised paths covered`}
      />
      <dl class="facts">
        <Fact name="Faults covered">
          {ofFaults.covered} of {ofFaults.total}
        </Fact>
        <Fact name="Client requests">{requests.toLocaleString("en")}</Fact>
      </dl>
    </div>
  );
}

/** What the clients should do, and the paths that they have not covered: the next one with its request. */
function NextSteps({ report: read }: { readonly report: Shown<"Report"> }) {
  const rejections = useRejections();
  const missing = missingPaths(read);
  const { from_story: fromStory = {} } = read;
  const unseen = missing.find(({ path_id: id }) => fromStory[id] === undefined);
  const next = unseen ?? missing[0];
  const isElsewhere = (next?.how_to_cover?.scenario ?? null) !== null;
  return (
    <div class="stack">
      <header class="bar apart">
        <h2>Next steps</h2>
        {story.data.value?.steps ? (
          <a
            class={isElsewhere && rejections.length === 0 ? "button" : "button quiet"}
            href={linkTo("story")}
          >
            Present the story
          </a>
        ) : null}
      </header>
      {rejections.length === 0 ? null : <Rejections of={rejections} />}
      <Problems report={read} hasRejections={rejections.length > 0} />
      {next === undefined ? (
        <p>Your clients have covered every promised path.</p>
      ) : (
        <>
          <Missing paths={missing} />
          <NextPath path={next} isSeen={unseen === undefined} isQuiet={rejections.length > 0} />
        </>
      )}
    </div>
  );
}

type ReportPath = Shown<"Report">["paths"][number];

/** Promised paths first: only they count for the coverage. */
function missingPaths({ paths, endpoints }: Shown<"Report">): readonly ReportPath[] {
  const announced = endpoints.filter(({ release }) => release === "announced");
  const isAnnounced = ({ path_id: id }: ReportPath) =>
    announced.some(({ operation_id: operation }) => id.endsWith(`.${operation}`));
  const left = paths.filter(({ covered }) => !covered);
  return [...left.filter(({ promised }) => promised), ...left.filter(isAnnounced)];
}

interface ProblemsProps {
  readonly report: Shown<"Report">;
  readonly hasRejections: boolean;
}

/** What went wrong with requests of clients, besides the rejections. */
function Problems({
  report: { advice, paths, requests, in_journal: inJournal = {} },
  hasRejections,
}: ProblemsProps) {
  const failed = paths
    .filter(({ path_id: id }) => /^fault\.(?!latency|slow)/.test(id))
    .reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {advice.length === 0 ? null : <AdviceList advice={advice} inJournal={inJournal} />}
      {failed === 0 ? null : (
        <p>
          {counted(failed, "client request")} ended in a <a href={linkTo("faults")}>fault</a> of this sandbox.
        </p>
      )}
      {requests === 0 || hasRejections || advice.length + failed > 0 ? null : (
        <p class="muted">No problems found.</p>
      )}
    </>
  );
}

interface NextPathProps {
  readonly path: ReportPath;
  readonly isSeen: boolean;
  readonly isQuiet: boolean;
}

/** The next path with its request, or the fault that prevents it. */
function NextPath({ path: { path_id: pathId, how_to_cover: how }, isSeen, isQuiet }: NextPathProps) {
  if ((faults.data.value ?? []).some(hitsAll)) {
    return (
      <div class="bar notice next-path">
        <p class="wide">
          <strong>Next:</strong> a fault changes the response to every request. Turn it off to cover these
          paths.
        </p>
        <ActionButton run={() => turnOff()}>Turn the faults off</ActionButton>
      </div>
    );
  }
  if (how === null) return null;
  return (
    <div class="stack notice next-path">
      <p>
        {isSeen ? (
          <>
            <strong>You have seen all paths.</strong> Coverage counts your client's requests. The first:
          </>
        ) : (
          <strong>Next:</strong>
        )}{" "}
        <PathLink pathId={pathId} />. {capitalized(how.text)}.
      </p>
      <SendNow how={how} pathId={pathId} isQuiet={isQuiet} />
    </div>
  );
}

/** Whether a fault replaces the response to every request. */
function hitsAll({ when = {}, then }: Shown<"Fault">): boolean {
  const { latency: _, slow: __, ...replacing } = then;
  return Object.keys(when).length === 0 && Object.values(replacing).some(Boolean);
}

const missingAtFirst = 8;

/** The paths that are not covered: the first eight. The request checks below show all. */
function Missing({ paths }: Pick<Shown<"Report">, "paths">) {
  const more = paths.length - missingAtFirst;
  return (
    <p class="bar missing">
      <strong>Not covered:</strong>
      {paths.slice(0, missingAtFirst).map(({ path_id: id }) => (
        <PathLink key={id} pathId={id} />
      ))}
      {more > 0 ? <span class="muted">and {more.toLocaleString("en")} more, dashed below</span> : null}
    </p>
  );
}

function PathLink({ pathId }: { readonly pathId: string }) {
  return (
    <a href={linkTo("overview", [pathId])}>
      <PathBadge pathId={pathId} />
    </a>
  );
}

/** The report, like the output of the command, as downloads. */
function WholeReport(read: Shown<"Report">) {
  const { scenario, seed, profile, pinned, requests, unread } = read;
  return (
    <section class="panel stack" aria-labelledby="report-title">
      <h2 id="report-title">Report</h2>
      <p>
        {counted(requests, "client request")} to{" "}
        <strong>
          <bdi>{scenario}</bdi>
        </strong>
        , seed {seed}, profile {profile}
        {pinned.length === 0 ? "" : ` except ${pinned.join(", ")}`}.
      </p>
      <div class="bar no-print">
        <span class="muted">Download</span>
        {reportFiles.map(({ title, format, extension }) => (
          <ActionButton
            key={format}
            class="quiet"
            run={() => download(format, `report-${scenario}`, extension)}
          >
            {title}
          </ActionButton>
        ))}
        <AskButton
          class="danger end"
          question={{
            title: "Clear the requests?",
            action: "Clear them",
            run: () => fetchControl("/requests", { method: "DELETE" }),
            loses: "requests",
          }}
        >
          Clear the requests
        </AskButton>
      </div>
      {unread === 0 ? null : (
        <p class="notice warning">
          Clients closed the connection before {counted(unread, "delayed response")} arrived. The paths count
          as covered, but the clients did not receive these responses. Is the timeout shorter than the fault's
          latency on purpose?
        </p>
      )}
    </section>
  );
}

// A link could not send the token.
async function download(format: string, name: string, extension: string): Promise<void> {
  const response = await fetchControl(`/report?format=${format}`);
  saveFile(await response.blob(), name, extension);
}
