import type { Report } from "../../control/answers.js";
import { fetchControl } from "../../control/call.js";
import { reportFiles } from "../../control/report-formats.generated.js";
import { useResources } from "../../control/resource.js";
import { gate, report } from "../../control/resources.js";
import { ActionButton } from "../../elements/forms/action.js";
import { LossButton } from "../../elements/forms/loss.js";
import { Read } from "../../elements/read.js";
import { saveFile } from "../../elements/save-file.js";
import { Table } from "../../elements/table.js";
import { AdviceList } from "../../elements/traffic/advice.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { counted } from "../../elements/words.js";
import { linkTo } from "../../route.js";
import { CoverageFigures, CoverageRing } from "./coverage.js";
import { RequestChecks } from "./request-checks.js";

export function OverviewView() {
  // In parallel, because the checks are drawn when both have arrived.
  useResources(gate);
  return (
    <>
      <h1>Overview</h1>
      <Read of={report}>
        {(read) => (
          <>
            <section class="panel stack" aria-labelledby="coverage-title">
              <h2 id="coverage-title">Coverage</h2>
              <div class="bar">
                <CoverageRing coverage={read.coverage} />
                <CoverageFigures report={read} />
              </div>
            </section>
            <RequestChecks report={read} />
            <section class="panel stack" aria-labelledby="advice-title">
              <h2 id="advice-title">Advice</h2>
              {read.advice.length > 0 ? (
                <AdviceList advice={read.advice} />
              ) : (
                <p class="muted">
                  {read.requests === 0
                    ? "Advice appears here when clients call the API."
                    : "No problems found."}
                </p>
              )}
            </section>
            <WholeReport report={read} />
          </>
        )}
      </Read>
    </>
  );
}

/** The report, like the output of the command, with its downloads. */
function WholeReport({ report }: { readonly report: Report }) {
  const { scenario, seed, profile, pinned, requests, unread, paths, repeats } = report;
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
      <Downloads scenario={scenario} />
      {unread === 0 ? null : (
        <p class="notice warning">
          Clients closed the connection before {counted(unread, "delayed response")} arrived. The paths count
          as covered, but the clients did not receive these responses. Is the timeout shorter than the fault's
          latency on purpose?
        </p>
      )}
      <Paths rows={paths} />
      {repeats.length === 0 ? null : <Repeats rows={repeats} />}
    </section>
  );
}

function Paths({ rows }: { readonly rows: Report["paths"] }) {
  const shown = rows.filter(({ promised, met }) => promised || met);
  return (
    <Table
      label="Paths"
      columns={["Path", "Requests", "Coverage", "When"]}
      numbers={["Requests"]}
      rows={shown.map(({ path_id: pathId, count, met, promised, when }) => ({
        key: pathId,
        cells: [
          <PathLink key="path" pathId={pathId} />,
          count === 0 ? (
            "–"
          ) : (
            <a href={linkTo("requests", [], { path: pathId })}>{count.toLocaleString("en")}</a>
          ),
          met ? (
            promised ? (
              "covered"
            ) : (
              "not promised"
            )
          ) : (
            <span key="coverage" class="toned tone-limit">
              not covered
            </span>
          ),
          when,
        ],
      }))}
    />
  );
}

/** A link to the outcome and how to cover it. */
function PathLink({ pathId }: { readonly pathId: string }) {
  return (
    <a href={linkTo("overview", [pathId])}>
      <PathBadge pathId={pathId} />
    </a>
  );
}

function Repeats({ rows }: { readonly rows: Report["repeats"] }) {
  const title = "Resent after a rejection";
  return (
    <>
      <h3>{title}</h3>
      <Table
        label={title}
        columns={["Path", "Key", "Requests"]}
        numbers={["Requests"]}
        rows={rows.map(({ path_id: pathId, key, fingerprint, count }) => ({
          key: `${pathId} ${key} ${fingerprint}`,
          cells: [
            <PathLink key="path" pathId={pathId} />,
            <a
              key="key"
              href={linkTo("requests", [], { path: pathId, key: key ?? fingerprint ?? undefined })}
            >
              <bdi>{key ?? fingerprint}</bdi>
            </a>,
            count.toLocaleString("en"),
          ],
        }))}
      />
    </>
  );
}

function Downloads({ scenario }: { readonly scenario: string }) {
  return (
    <div class="bar no-print">
      <span class="muted">Download</span>
      {reportFiles.map(({ title, format, ending }) => (
        <ActionButton key={format} class="quiet" run={() => download(format, `report-${scenario}`, ending)}>
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
  );
}

// A link could not send the token.
async function download(format: string, name: string, ending: string): Promise<void> {
  const response = await fetchControl(`/report?format=${format}`);
  saveFile(await response.blob(), name, ending);
}
