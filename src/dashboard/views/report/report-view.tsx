import type { ComponentChildren } from "preact";
import type { Report } from "../../control/answers.js";
import { fetchControl } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { report } from "../../control/resources.js";
import { CodeLine } from "../../elements/copy-button.js";
import { ActionButton } from "../../elements/forms/action.js";
import { LossButton } from "../../elements/forms/loss.js";
import { saveFile } from "../../elements/save-file.js";
import { Table } from "../../elements/table.js";
import { AdviceList } from "../../elements/traffic/advice.js";
import { CoverageFigures, CoverageRing } from "../../elements/traffic/coverage.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { counted } from "../../elements/words.js";
import { linkTo } from "../../route.js";

/** The report, like the output of the command, with its downloads. */
export function ReportView() {
  useResources(report);
  const read = report.data.value;
  return (
    <>
      <h1>Report</h1>
      {read === undefined ? <p class="muted">Reading…</p> : <Whole report={read} />}
    </>
  );
}

function Whole({ report: read }: { readonly report: Report }) {
  const { scenario, seed, profile, pinned, requests, unread, paths, repeats, advice } = read;
  const shown = paths.filter(({ promised, met }) => promised || met);
  const unmet = shown.filter(({ met }) => !met);
  const inPreview = paths.filter(({ preview_count }) => preview_count > 0);
  const isNote = ({ level }: { readonly level: string }) => level === "note";
  return (
    <>
      <p>
        {counted(requests, "client request")} to{" "}
        <strong>
          <bdi>{scenario}</bdi>
        </strong>
        , seed {seed}, profile {profile}
        {pinned.length === 0 ? "" : ` except ${pinned.join(", ")}`}.
      </p>
      <div class="report-head">
        <section class="panel report-coverage" aria-labelledby="report-coverage">
          <h2 id="report-coverage">Coverage</h2>
          <CoverageRing coverage={read.coverage} />
          <CoverageFigures report={read} />
        </section>
        <Downloads scenario={scenario} />
      </div>
      {unread === 0 ? null : (
        <p class="notice">
          Clients closed the connection before {counted(unread, "delayed response")} arrived. The paths count
          as covered, but the clients did not receive these responses. Is the timeout shorter than the fault's
          latency on purpose?
        </p>
      )}
      <Paths rows={shown} />
      {inPreview.length === 0 ? null : <PreviewPaths rows={inPreview} />}
      {unmet.length === 0 ? null : <OtherPaths rows={unmet} />}
      {repeats.length === 0 ? null : <Repeats rows={repeats} />}
      <AdviceSection title="Advice" advice={advice.filter((one) => !isNote(one))} />
      <AdviceSection title="Notes" advice={advice.filter(isNote)} />
    </>
  );
}

interface PathsProps {
  readonly rows: Report["paths"];
}

function Paths({ rows }: PathsProps) {
  return (
    <PathTable title="Paths" columns={["Path", "Requests", "Coverage", "When"]}>
      {rows.map(({ path_id: pathId, count, met, promised, when }) => (
        <tr key={pathId}>
          <PathCell pathId={pathId} />
          <td class="number">
            {count === 0 ? (
              "–"
            ) : (
              <a href={linkTo("requests", [], { path: pathId })}>{count.toLocaleString("en")}</a>
            )}
          </td>
          <td class={met ? "" : "missed"}>{met ? (promised ? "covered" : "not promised") : "not covered"}</td>
          <td>{when}</td>
        </tr>
      ))}
    </PathTable>
  );
}

function PathCell({ pathId }: { readonly pathId: string }) {
  return (
    <th scope="row">
      <a href={linkTo("overview", [pathId])}>
        <PathBadge pathId={pathId} />
      </a>
    </th>
  );
}

function PreviewPaths({ rows }: PathsProps) {
  return (
    <PathTable title="Preview" columns={["Path", "Requests", "To"]}>
      {rows.map(({ path_id: pathId, preview_count: count }) => (
        <tr key={pathId}>
          <PathCell pathId={pathId} />
          <td class="number">{count.toLocaleString("en")}</td>
          <td>announced endpoints</td>
        </tr>
      ))}
    </PathTable>
  );
}

function Repeats({ rows }: { readonly rows: Report["repeats"] }) {
  return (
    <PathTable title="Resent after a rejection" columns={["Path", "Key", "Requests"]}>
      {rows.map(({ path_id: pathId, key, fingerprint, count }) => (
        <tr key={`${pathId} ${key} ${fingerprint}`}>
          <PathCell pathId={pathId} />
          <td>
            <a href={linkTo("requests", [], { path: pathId, key: key ?? fingerprint ?? undefined })}>
              <bdi>{key ?? fingerprint}</bdi>
            </a>
          </td>
          <td class="number">{count.toLocaleString("en")}</td>
        </tr>
      ))}
    </PathTable>
  );
}

function OtherPaths({ rows }: PathsProps) {
  return (
    <PathTable title="How to cover the other paths" columns={["Path", "How to cover it"]}>
      {rows.map(({ path_id: pathId, how_to_meet: how }) => (
        <tr key={pathId}>
          <PathCell pathId={pathId} />
          <td>
            {how?.text}
            {how === null ? null : <CodeLine code={how.curl} />}
          </td>
        </tr>
      ))}
    </PathTable>
  );
}

interface TableProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

function PathTable({ title, columns, children }: TableProps) {
  return (
    <section class="panel">
      <h2>{title}</h2>
      <Table label={title} columns={columns} numbers={["Requests"]}>
        {children}
      </Table>
    </section>
  );
}

function AdviceSection({ title, advice }: { readonly title: string; readonly advice: Report["advice"] }) {
  if (advice.length === 0) return null;
  return (
    <section class="panel report-advice">
      <h2>{title}</h2>
      <AdviceList advice={advice} />
    </section>
  );
}

const formats = [
  { name: "Markdown", format: "markdown", ending: "md" },
  { name: "HTML", format: "html", ending: "html" },
  { name: "JUnit", format: "junit", ending: "xml" },
  { name: "JSON", format: "json", ending: "json" },
  { name: "Text", format: "text", ending: "txt" },
] as const;

function Downloads({ scenario }: { readonly scenario: string }) {
  return (
    <section class="panel downloads" aria-labelledby="downloads">
      <h2 id="downloads">Download</h2>
      <p class="muted">
        The output of <code>npx --no-install svc-sandbox report</code>. JUnit is for CI servers.
      </p>
      <div class="buttons">
        {formats.map(({ name: title, format, ending }) => (
          <ActionButton key={format} class="quiet" run={() => download(format, `report-${scenario}`, ending)}>
            {title}
          </ActionButton>
        ))}
      </div>
      <p class="muted">Clearing the requests starts a new report; the keys keep their usage.</p>
      <div>
        <LossButton
          class="danger"
          title="Clear the requests?"
          action="Clear them"
          run={() => fetchControl("/requests", { method: "DELETE" })}
          lost="requests"
        >
          Clear the requests
        </LossButton>
      </div>
    </section>
  );
}

// A link could not send the token.
async function download(format: string, name: string, ending: string): Promise<void> {
  const response = await fetchControl(`/report?format=${format}`);
  saveFile(await response.blob(), name, ending);
}
