import { useResources } from "../../control/resource.js";
import { gate, report } from "../../control/resources.js";
import { AdviceList } from "../../elements/traffic/advice.js";
import { CoverageFigures, CoverageRing } from "../../elements/traffic/coverage.js";
import { linkTo } from "../../route.js";
import { Gate } from "./gate.js";

/** Coverage, advice, and the request checks with their outcomes. */
export function OverviewView() {
  // In parallel, because the checks are drawn when both have arrived.
  useResources(report, gate);
  const read = report.data.value;
  return (
    <>
      <h1>Overview</h1>
      {read === undefined ? (
        <p class="muted">Reading…</p>
      ) : (
        <div class="overview">
          <section class="panel overview-coverage" aria-labelledby="coverage-title">
            <h2 id="coverage-title">Coverage</h2>
            <CoverageRing coverage={read.coverage} />
            <CoverageFigures report={read} />
            <p class="muted">
              <a href={linkTo("report")}>The report</a> lists every path and can be downloaded.
            </p>
          </section>
          <section class="panel overview-advice" aria-labelledby="advice-title">
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
          <Gate report={read} />
        </div>
      )}
    </>
  );
}
