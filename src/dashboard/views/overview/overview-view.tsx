import { fetchControl, isPanelOpen } from "../../control/call.js";
import { reportFiles } from "../../control/report-formats.generated.js";
import { useResources } from "../../control/resource.js";
import { report, requestChecks, story } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { ActionButton } from "../../elements/forms/action.js";
import { LossButton } from "../../elements/forms/loss.js";
import { Read } from "../../elements/read.js";
import { saveFile } from "../../elements/save-file.js";
import { AdviceList, Target } from "../../elements/traffic/advice.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { capitalized, counted } from "../../elements/words.js";
import { linkTo, route } from "../../route.js";
import { CoverageFigures, CoverageRing } from "./coverage.js";
import { PathDetail } from "./path-detail.js";
import { Rejections, useRejections } from "./rejections.js";
import { RequestChecks } from "./request-checks.js";
import { SendNow } from "./send-now.js";

export function OverviewView() {
  // In parallel, because the checks are drawn when both have arrived.
  useResources(requestChecks, story);
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
                  <div class="stack">
                    <h2 id="coverage-title">Coverage</h2>
                    <CoverageRing coverage={read.coverage} />
                    <CoverageFigures report={read} />
                  </div>
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

/** What the clients should do, and the paths that they have not covered: the next one with its request. */
function NextSteps({ report: read }: { readonly report: Shown<"Report"> }) {
  const { advice, paths, requests, from_story: fromStory = {}, in_journal: inJournal = {} } = read;
  const rejections = useRejections();
  const announced = read.endpoints.filter(({ release }) => release === "announced");
  const isAnnounced = ({ path_id: id }: Shown<"Report">["paths"][number]) =>
    announced.some(({ operation_id: operation }) => id.endsWith(`.${operation}`));
  const left = paths.filter(({ met }) => !met);
  // Promised paths first: only they count for the coverage.
  const missing = [...left.filter(({ promised }) => promised), ...left.filter(isAnnounced)];
  const unseen = missing.find(({ path_id: id }) => fromStory[id] === undefined);
  const next = unseen ?? missing[0];
  const how = next?.how_to_meet ?? null;
  const hasStory = (story.data.value?.steps ?? 0) > 0;
  const isElsewhere = how !== null && how.scenario !== null;
  return (
    <div class="stack">
      <header class="bar apart">
        <h2>Next steps</h2>
        {hasStory ? (
          <a
            class={isElsewhere && rejections.length === 0 ? "button" : "button quiet"}
            href={linkTo("story")}
          >
            Present the story
          </a>
        ) : null}
      </header>
      {rejections.length === 0 ? null : <Rejections of={rejections} />}
      {advice.length > 0 ? (
        <AdviceList advice={advice} inJournal={inJournal} />
      ) : requests === 0 || rejections.length > 0 ? null : (
        <p class="muted">No problems found.</p>
      )}
      {next === undefined ? (
        <p>Your clients have covered every promised path.</p>
      ) : (
        <>
          <Missing paths={missing} endpoints={read.endpoints} />
          {how === null ? null : (
            <div class="stack next-path">
              <p>
                {unseen === undefined ? (
                  <>
                    <strong>You have seen all paths.</strong> Coverage counts your client's requests. The
                    first:
                  </>
                ) : (
                  <strong>Next:</strong>
                )}{" "}
                <PathLink pathId={next.path_id} />. {capitalized(how.text)}.
              </p>
              <SendNow how={how} pathId={next.path_id} isQuiet={isPanelOpen() || rejections.length > 0} />
            </div>
          )}
        </>
      )}
    </div>
  );
}

const missingAtFirst = 8;

/** The paths that are not covered: eight, and the others by endpoint. */
function Missing({ paths: all, endpoints }: Pick<Shown<"Report">, "paths" | "endpoints">) {
  const more = all.slice(missingAtFirst);
  const endpointOf = ({ path_id: id }: Shown<"Report">["paths"][number]) =>
    endpoints.find(({ operation_id: operation }) => id.endsWith(`.${operation}`));
  const groups = [undefined, ...endpoints].map((endpoint) => ({
    endpoint,
    paths: more.filter((path) => endpointOf(path) === endpoint),
  }));
  return (
    <>
      <p class="bar missing">
        <strong>Not covered:</strong>
        {all.slice(0, missingAtFirst).map(({ path_id: id }) => (
          <PathLink key={id} pathId={id} />
        ))}
      </p>
      {more.length === 0 ? null : (
        <details class="missing-more">
          <summary>{more.length.toLocaleString("en")} more</summary>
          <ul class="list small">
            {groups
              .filter(({ paths }) => paths.length > 0)
              .map(({ endpoint, paths }) => (
                <li key={endpoint?.operation_id ?? ""} class="bar">
                  {endpoint === undefined ? "Any endpoint" : <Target request={endpoint} />}
                  {paths.map(({ path_id: id }) => (
                    <PathLink key={id} pathId={id} />
                  ))}
                </li>
              ))}
          </ul>
        </details>
      )}
    </>
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
  const { scenario, seed, profile, pinned, requests, unread, instances } = read;
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
        {instances?.requests ? " The downloads also count the requests of instances." : ""}
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
        <LossButton
          class="danger end"
          title="Clear the requests?"
          action="Clear them"
          run={() => fetchControl("/requests", { method: "DELETE" })}
          lost="requests"
        >
          Clear the requests
        </LossButton>
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
async function download(format: string, name: string, ending: string): Promise<void> {
  const response = await fetchControl(`/report?format=${format}`);
  saveFile(await response.blob(), name, ending);
}
