import type { Shown } from "../../control/responses.js";
import { Fact } from "../../elements/fact.js";
import { counted } from "../../elements/words.js";
import { linkTo } from "../../route.js";

// The ring has a length of 100, so a share is a length.
const radius = 100 / (2 * Math.PI);

/** The share of promised paths that clients have covered, as a ring around the percentage. */
export function CoverageRing({ coverage }: { readonly coverage: Shown<"Report">["coverage"] }) {
  const { percent, met, promised } = coverage;
  return (
    <svg
      class="coverage-ring"
      viewBox="-20 -20 40 40"
      role="img"
      aria-label={`Coverage ${percent}%: ${met} of ${promised} promised paths covered`}
    >
      <circle r={radius} />
      <circle class="ring-share" r={radius} stroke-dasharray={`${(met * 100) / promised} 100`} />
      <text y="1.5">{percent}%</text>
      <text y="7" class="ring-note">
        {met} of {promised}
      </text>
    </svg>
  );
}

/** The figures besides the promised paths: faults and requests. */
export function CoverageFigures({ report }: { readonly report: Shown<"Report"> }) {
  const { requests, faults, unread, instances } = report;
  const { requests: others, used } = instances ?? { requests: 0, used: 0 };
  return (
    <dl class="facts wide">
      <Fact name="Faults covered">
        {faults.met} of {faults.total}
      </Fact>
      <Fact name="Client requests">
        {requests.toLocaleString("en")}
        {others === 0 ? null : (
          <>
            , and {others.toLocaleString("en")} in{" "}
            <a href={linkTo("instances", [], { sort: "last_request" })}>{counted(used, "instance")}</a>
          </>
        )}
      </Fact>
      {unread === 0 ? null : <Fact name="Delayed responses not received">{unread.toLocaleString("en")}</Fact>}
    </dl>
  );
}
