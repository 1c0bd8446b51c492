import { useResources } from "../../control/resource.js";
import { requestChecks } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { Checks } from "../../elements/traffic/checks.js";
import { toneOf } from "../../elements/traffic/path-badge.js";
import { linkTo, route } from "../../route.js";

/** The request checks in order, each with its outcomes and their numbers of requests. */
export function RequestChecks({ report }: { readonly report: Shown<"Report"> }) {
  useResources(requestChecks);
  const known = requestChecks.data.value;
  if (known === undefined) return <p class="panel muted">Reading…</p>;
  const { faults, checks, successes } = known;
  const rows = [
    { name: "faults", question: "Does a fault match the request?", exits: faults },
    ...checks,
    { name: "passed", question: "All checks passed: the endpoint responds.", exits: successes },
  ];
  return (
    <section class="panel stack" aria-labelledby="request-checks-title">
      <h2 id="request-checks-title">Request checks</h2>
      <p class="muted small">
        Filled: covered by clients. Ring: only by the story or this page, whose requests are in parentheses.
        Dashed: not covered; open it for instructions.
      </p>
      <Checks
        label="Request checks"
        checks={rows.map(({ exits, ...check }) => ({
          ...check,
          outcomes: <Outcomes of={exits} report={report} label={`Outcomes of ${check.name}`} />,
        }))}
      />
    </section>
  );
}

interface OutcomesProps {
  readonly of: readonly string[];
  readonly report: Shown<"Report">;
  readonly label: string;
}

function Outcomes({ of, report: { paths, from_story: fromStory = {} }, label }: OutcomesProps) {
  return (
    <ul class="bar exits" aria-label={label}>
      {of.map((pathId) => (
        <ExitLink
          key={pathId}
          pathId={pathId}
          count={paths.find(({ path_id: id }) => id === pathId)?.count ?? 0}
          fromStory={fromStory[pathId] ?? 0}
        />
      ))}
    </ul>
  );
}

function ExitLink(props: { readonly pathId: string; readonly count: number; readonly fromStory: number }) {
  const { pathId, count, fromStory } = props;
  const isOpen = route.value.parts[0] === pathId;
  const state = count > 0 ? "met" : fromStory > 0 ? "by-story" : "unmet";
  return (
    <li>
      <a
        class={`exit tone-${toneOf(pathId)} exit-${state}`}
        href={isOpen ? linkTo("overview") : linkTo("overview", [pathId])}
        aria-current={isOpen ? "true" : undefined}
        data-path={pathId}
      >
        <code>{pathId}</code>
        {count === 0 ? null : (
          <span>
            {count.toLocaleString("en")}
            <span class="visually-hidden"> by clients</span>
          </span>
        )}
        {fromStory === 0 ? null : (
          <span>
            ({fromStory.toLocaleString("en")}
            <span class="visually-hidden"> by the story or this page</span>)
          </span>
        )}
        {state === "unmet" ? <span class="visually-hidden">not covered</span> : null}
      </a>
    </li>
  );
}
