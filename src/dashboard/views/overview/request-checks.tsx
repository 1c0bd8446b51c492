import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { baseUrl, call } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { requestChecks } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { CodeLine } from "../../elements/copy-button.js";
import { aboutPath, DocsLink } from "../../elements/docs-link.js";
import { ActionButton } from "../../elements/forms/action.js";
import { LossButton } from "../../elements/forms/loss.js";
import { PathBadge, toneOf } from "../../elements/traffic/path-badge.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";
import { linkTo, route } from "../../route.js";

interface Stage {
  readonly name: string;
  readonly question: string;
  readonly rules?: string;
  readonly exits: readonly string[];
  /** The checks, or the faults before and the successes after them. */
  readonly kind: "check" | "faults" | "successes";
}

/** The request checks in order, each with its outcomes and their numbers of requests. */
export function RequestChecks({ report }: { readonly report: Shown<"Report"> }) {
  useResources(requestChecks);
  const drawn = requestChecks.data.value;
  if (drawn === undefined) return <p class="panel muted">Reading…</p>;
  const paths = new Map(report.paths.map((row) => [row.path_id as string, row]));
  const opened = paths.get(route.value.parts[0] ?? "");
  const fromStory = report.from_story ?? {};
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
  // These faults only delay a request, so it also counts for its outcome.
  const delays = drawn.effects.filter((one) => one.only_delays).map(({ effect }) => `fault.${effect}`);
  const countOf = (pathId: string) => paths.get(pathId)?.count ?? 0;
  const left = stages.map(({ exits }) => sum(exits.filter((one) => !delays.includes(one)).map(countOf)));
  const all = sum(left);
  return (
    <section class="panel stack" aria-labelledby="request-checks-title">
      <h2 id="request-checks-title">Request checks</h2>
      <Legend />
      <ol class="request-checks">
        <li class="stage stage-start">
          <Trunk count={all} />
          <div class="check">
            <h3>Incoming request</h3>
            <p class="muted small">
              <code>{baseUrl}</code>
            </p>
          </div>
        </li>
        {stages.map(({ kind, name, question, rules, exits }, index) => (
          <li key={name} class={`stage stage-${kind}`}>
            <Trunk count={all - sum(left.slice(0, index))} mark={kind === "check" ? index : undefined} />
            <div class="check">
              <h3>{name}</h3>
              <p class="muted small">
                {question} {rules}
              </p>
            </div>
            <ul class="bar exits" aria-label={kind === "successes" ? "Successes" : `Outcomes of ${name}`}>
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
    </section>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** The line between two checks, with the number of requests that reach it and the number of the check. */
function Trunk({ count, mark }: { readonly count: number; readonly mark?: number | undefined }) {
  return (
    <div class="trunk">
      <span class="trunk-mark">{mark}</span>
      <span class="trunk-count">
        {count === 0 ? null : (
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

const legend = [
  ["met", "count", "covered by clients"],
  ["by-story", "by-story", "by the story or this page"],
  ["unmet", "", "not covered: open it for instructions"],
] as const;

function Legend() {
  return (
    <ul class="bar muted small">
      {legend.map(([state, mark, words]) => (
        <li key={state}>
          <span class={`exit exit-${state} tone-other`}>
            {mark === "" ? "\u00A0" : <span class={`exit-${mark}`}>n</span>}
          </span>{" "}
          {words}
        </li>
      ))}
    </ul>
  );
}

type ReportedPath = Shown<"Report">["paths"][number];
type HowToMeet = NonNullable<ReportedPath["how_to_meet"]>;

interface ExitProps {
  readonly path: ReportedPath;
  readonly fromStory: number;
}

function Exit({ path, fromStory }: ExitProps) {
  const { path_id: pathId, when, count, how_to_meet: how } = path;
  return (
    <section class="stack exit-detail" aria-label={`Outcome ${pathId}`}>
      <p>
        <DocsLink to={aboutPath(pathId)}>
          <PathBadge pathId={pathId} />
        </DocsLink>
        : {when}.
      </p>
      <p>
        Client requests: {count.toLocaleString("en")}. Story and this page: {fromStory.toLocaleString("en")}.{" "}
        {count + fromStory === 0 ? null : (
          <a href={linkTo("requests", [], { path: pathId })}>Show these requests</a>
        )}
      </p>
      {how === null ? null : <Meeting how={how} pathId={pathId} />}
    </section>
  );
}

function Meeting({ how, pathId }: Pick<SendNowProps, "how" | "pathId">) {
  return (
    <>
      <p>
        <strong>How to cover it:</strong> {how.text}.
      </p>
      <CodeLine code={how.curl} />
      <p class="muted">
        Run it in a shell with the variables from <code>--write-env</code>. Here <code>SVC_BASE_URL</code> is{" "}
        <code>{baseUrl}</code>.
      </p>
      <SendNow how={how} pathId={pathId} />
    </>
  );
}

interface SendNowProps {
  readonly how: HowToMeet;
  readonly pathId: string;
  /** More buttons next to its own. */
  readonly children?: ComponentChildren;
}

/** Sends the request from this page. It does not count as a client request. */
export function SendNow({ how, pathId, children }: SendNowProps) {
  const { ref, request, scenario, reset, scopes } = how;
  // Stays when the report has another request, because this one has covered its path.
  const sent = useSignal<{ readonly pathId: string; readonly of: Shown<"Sent"> } | undefined>(undefined);
  const send = async () => {
    sent.value = undefined;
    if (scenario !== null) await call("/scenario", { method: "PUT", body: { name: scenario } });
    else if (reset) await call("/reset", { method: "POST" });
    const body = { key: ref, ...request, body: request.body ?? undefined };
    sent.value = { pathId, of: await call<Shown<"Sent">>("/send", { method: "POST", body }) };
  };
  // The scenario must change first.
  if (scopes !== undefined) return children;
  const before = scenario !== null ? `Start ${scenario} here, then send it` : reset && "Reset, then send it";
  return (
    <>
      <div class="bar">
        {before ? (
          <LossButton title={`${before}?`} action="Send it" run={send}>
            {before}
          </LossButton>
        ) : (
          <ActionButton run={send}>Send it now</ActionButton>
        )}
        {children}
      </div>
      <output class="stack">
        {sent.value === undefined ? null : (
          <>
            <strong>
              Sent for <PathBadge pathId={sent.value.pathId} />
            </strong>
            <SentResponse sent={sent.value.of} />
          </>
        )}
      </output>
    </>
  );
}
