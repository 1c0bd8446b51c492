import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../control/call.js";
import type { ReportPath, ShownReport, ShownSentRequest } from "../control/responses.js";
import { Button, lossOfState, Read } from "../elements/action.js";
import { PathBadge, SentResponse, toneOf } from "../elements/traffic.js";
import { capitalized, DocsLink, Panel } from "../elements/words.js";
import { linkTo, route } from "../route.js";
import { CopyCurl } from "./secret.js";

/** The request checks in order, each with its outcomes and their numbers of requests. An outcome opens below its check. */
export function Outcomes({ report }: Readonly<{ report: ShownReport }>) {
  const open = route.value.parts[0];
  return (
    <Panel
      title="Request checks"
      name="checks"
      note="Filled: covered by clients. Ring: only by the story or this page (in parentheses). Dashed: not covered; open it to see how."
    >
      <Read path="/request-checks">
        {({ faults, checks, successes }) => (
          <ol class="checks" aria-label="Request checks">
            {[
              { name: "faults", question: "Does a fault match the request?", rules: "", exits: faults },
              ...checks,
              {
                name: "passed",
                question: "All checks passed: the endpoint responds.",
                rules: "",
                exits: successes,
              },
            ].map(({ name, question, rules, exits }) => {
              const path = report.paths.find(({ path_id: id }) => id === open && exits.includes(id));
              return (
                <li key={name}>
                  <strong>{capitalized(name)}</strong>
                  <span class="muted small">
                    {question} {rules}
                  </span>
                  <ul class="bar exits" aria-label={`Outcomes of ${name}`}>
                    {exits.map((pathId) => (
                      <li key={pathId}>
                        <Exit pathId={pathId} report={report} isOpen={pathId === path?.path_id} />
                      </li>
                    ))}
                  </ul>
                  {path && <OpenOutcome key={path.path_id} path={path} report={report} />}
                </li>
              );
            })}
          </ol>
        )}
      </Read>
    </Panel>
  );
}

/** An outcome with its numbers of requests; a link that opens or closes it. */
function Exit({
  pathId,
  report: { paths, from_story: fromStory = {} },
  isOpen,
}: Readonly<{ pathId: string; report: ShownReport; isOpen: boolean }>) {
  const count = paths.find(({ path_id: id }) => id === pathId)?.count ?? 0;
  const sentHere = fromStory[pathId] ?? 0;
  const state = count > 0 ? "covered" : sentHere > 0 ? "by-story" : "missing";
  return (
    <a
      class={`exit tone-${toneOf(pathId)} exit-${state}`}
      href={isOpen ? linkTo("overview") : linkTo("overview", [pathId])}
      aria-current={isOpen}
      data-path={pathId}
    >
      <code>{pathId}</code> {count > 0 && count.toLocaleString("en")}{" "}
      {sentHere > 0 && `(${sentHere.toLocaleString("en")})`}
      {state === "missing" && <span class="visually-hidden">not covered</span>}
    </a>
  );
}

/** What a path means, who has covered it, and how to. It gets the focus; Escape closes it. */
function OpenOutcome({
  path,
  report: { from_story: fromStory, in_journal: inJournal },
}: {
  readonly path: ReportPath;
  readonly report: ShownReport;
}) {
  const { path_id: pathId, when, count, how_to_cover: how } = path;
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    box.current?.focus({ preventScroll: true });
    box.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const sentHere = fromStory?.[pathId] ?? 0;
  const close = ({ key }: KeyboardEvent) => {
    if (key !== "Escape") return;
    document.querySelector<HTMLElement>('.exit[aria-current="true"]')?.focus();
    location.hash = linkTo("overview");
  };
  return (
    <section class="stack outcome" aria-label={`Outcome ${pathId}`} ref={box} tabIndex={-1} onKeyDown={close}>
      <p>
        <PathBadge pathId={pathId} />: {when}. Client requests: {count.toLocaleString("en")}. Story and this
        page: {sentHere.toLocaleString("en")}.
      </p>
      {how && (
        <p>
          <strong>How to cover it:</strong> {how.text}.
        </p>
      )}
      <SendNow path={path} isQuiet />
      <p class="bar">
        {inJournal?.[pathId] && <a href={linkTo("requests", [], { filter: pathId })}>Show these requests</a>}
        <DocsLink to="errors.md#all-paths">About the paths</DocsLink>
      </p>
    </section>
  );
}

/** Buttons that cover a path: its request from this page, which does not count as a client's, or as a line for a shell. */
export function SendNow({
  path: { path_id: pathId, how_to_cover: how },
  isQuiet,
}: Readonly<{ path: ReportPath; isQuiet: boolean }>) {
  // Stays when the report has another request, because this one has covered its path.
  const [sent, setSent] = useState<readonly [pathId: string, result: ShownSentRequest] | undefined>(
    undefined,
  );
  // With other scopes, the scenario must change first.
  if (how === null || how.scopes !== undefined) return null;
  const { ref, request, scenario, reset, curl } = how;
  const send = async () => {
    setSent(undefined);
    if (reset) await call("/reset", { method: "POST" });
    const body = { key: ref, ...request };
    setSent([pathId, await call<ShownSentRequest>("/send", { method: "POST", body })]);
  };
  if (scenario !== null)
    return <a href={linkTo("sandbox", ["scenario"])}>Load {scenario}, which has this path</a>;
  const ask = { title: "Reset, then send it?", text: lossOfState, action: "Send it" };
  return (
    <>
      <div class="bar">
        <Button class={isQuiet ? "quiet" : ""} run={send} {...(reset && { ask })}>
          {reset ? "Reset, then send it" : "Send it now"}
        </Button>
        {/* Without the reset, it would not cover the path. */}
        {reset ? null : <CopyCurl keyRef={ref} curl={curl} />}
      </div>
      <output class="stack">
        {sent && (
          <>
            <strong>
              Sent for <PathBadge pathId={sent[0]} />
            </strong>
            <SentResponse sent={sent[1]} />
          </>
        )}
      </output>
    </>
  );
}
