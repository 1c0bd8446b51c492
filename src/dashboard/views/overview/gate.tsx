import { computed } from "@preact/signals";
import type { Report, Request } from "../../control/answers.js";
import { baseUrl } from "../../control/call.js";
import { resource, useResources } from "../../control/resource.js";
import { gate } from "../../control/resources.js";
import { toneOf } from "../../elements/traffic/path-badge.js";
import { linkTo, route } from "../../route.js";
import { Exit, type ReportedPath } from "./exit.js";
import { Traveller } from "./traveller.js";

const storyRequests = resource<readonly Request[]>("/requests?source=story", { on: ["world.", "request"] });

/** The number of requests by the story or this page for each path id, as text that changes only with the counts. */
const storyCounts = computed(() => {
  const counts: Record<string, number> = {};
  for (const { path_id: pathId } of storyRequests.data.value ?? [])
    counts[pathId] = (counts[pathId] ?? 0) + 1;
  return JSON.stringify(counts);
});

/** These faults only delay a request, so it also counts for its outcome. */
const delays: readonly string[] = ["fault.latency", "fault.slow"];

interface Stage {
  readonly name: string;
  readonly question: string;
  readonly rules?: string;
  readonly exits: readonly string[];
  /** The checks, or the faults before and the successes after them. */
  readonly kind: "check" | "faults" | "successes";
}

/** The request checks in order, each with its outcomes and their numbers of requests. */
export function Gate({ report }: { readonly report: Report }) {
  useResources(gate, storyRequests);
  const drawn = gate.data.value;
  if (drawn === undefined) return <p class="panel muted gate-panel">Reading…</p>;
  const paths = new Map(report.paths.map((row) => [row.path_id as string, row]));
  const opened = paths.get(route.value.parts[0] ?? "");
  const fromStory: Readonly<Record<string, number>> = JSON.parse(storyCounts.value);
  const stages: readonly Stage[] = [
    {
      kind: "faults",
      name: "faults",
      question: "Does a fault match the request?",
      exits: drawn.faults,
    },
    ...drawn.checks.map((check) => ({ ...check, kind: "check" as const })),
    {
      kind: "successes",
      name: "passed",
      question: "All checks passed: the endpoint responds.",
      exits: drawn.successes,
    },
  ];
  const countOf = (pathId: string) => clientCount(paths.get(pathId));
  const left = stages.map(({ exits }) => sum(exits.filter((one) => !delays.includes(one)).map(countOf)));
  const all = sum(left);
  return (
    <section class="panel gate-panel" aria-labelledby="gate-title">
      <h2 id="gate-title">Request checks</h2>
      <Legend />
      <div class="gate-way">
        <Traveller />
        <ol class="gate">
          <li class="stage stage-start">
            <Trunk count={all} below={all} of={all} />
            <div class="check">
              <h3>Incoming request</h3>
              <p class="muted">
                <code>{baseUrl}</code>
              </p>
            </div>
          </li>
          {stages.map(({ kind, name, question, rules, exits }, index) => (
            <li key={name} class={`stage stage-${kind}`}>
              <Trunk
                count={all - sum(left.slice(0, index))}
                below={kind === "successes" ? (left[index] ?? 0) : all - sum(left.slice(0, index + 1))}
                of={all}
                mark={kind === "check" ? index : undefined}
              />
              <div class="check">
                <h3>{name}</h3>
                <p class="muted">
                  {question} {rules === undefined ? null : <span class="rules">{rules}</span>}
                </p>
              </div>
              <ul class="exits" aria-label={kind === "successes" ? "Successes" : `Outcomes of ${name}`}>
                {exits.map((pathId) => (
                  <ExitLink
                    key={pathId}
                    pathId={pathId}
                    count={countOf(pathId)}
                    fromStory={fromStory[pathId] ?? 0}
                  />
                ))}
              </ul>
              {opened === undefined || !exits.includes(opened.path_id) ? null : (
                <Exit key={opened.path_id} path={opened} fromStory={fromStory[opened.path_id] ?? 0} />
              )}
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** The number of client requests with this outcome, including announced endpoints. */
function clientCount(path: ReportedPath | undefined): number {
  return path === undefined ? 0 : path.count + path.preview_count;
}

interface TrunkProps {
  /** The number of requests that reach this point, that continue, and in total. */
  readonly count: number;
  readonly below: number;
  readonly of: number;
  /** The number of the check. */
  readonly mark?: number | undefined;
}

/** The line between two checks, as wide as the share of requests that reach it. */
function Trunk({ count, below, of, mark }: TrunkProps) {
  const all = Math.max(1, of);
  return (
    <div class="trunk" style={{ "--share": count / all, "--share-below": below / all }}>
      <span class="trunk-mark">{mark}</span>
      <span class="trunk-count">
        {of === 0 ? null : (
          <>
            {count.toLocaleString("en")}
            <span class="visually-hidden"> requests reach this point</span>
          </>
        )}
      </span>
    </div>
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
        aria-expanded={isOpen}
        data-path={pathId}
      >
        {/* A new key creates a new element, which flashes again. */}
        {count + fromStory === 0 ? null : <span class="flash" key={count + fromStory} />}
        <code>{pathId}</code>
        {count === 0 ? null : (
          <span class="exit-count">
            {count.toLocaleString("en")}
            <span class="visually-hidden"> by clients</span>
          </span>
        )}
        {fromStory === 0 ? null : (
          <span class="exit-by-story">
            {fromStory.toLocaleString("en")}
            <span class="visually-hidden"> by the story or this page</span>
          </span>
        )}
        {state === "unmet" ? <span class="visually-hidden">not covered</span> : null}
      </a>
    </li>
  );
}

function Legend() {
  return (
    <ul class="legend">
      <li>
        <span class="exit exit-met tone-other">
          <span class="exit-count">n</span>
        </span>{" "}
        covered by clients
      </li>
      <li>
        <span class="exit exit-by-story tone-other">
          <span class="exit-by-story">n</span>
        </span>{" "}
        by the story or this page
      </li>
      <li>
        <span class="exit exit-unmet tone-other">&nbsp;</span> not covered: open it for instructions
      </li>
    </ul>
  );
}
