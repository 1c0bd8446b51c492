import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../control/call.js";
import type { ReportOutcome, ShownReport, ShownSentRequest } from "../control/responses.js";
import { Button, lossOfState, Read } from "../elements/action.js";
import { OutcomeBadge, SentResponse, toneOf } from "../elements/traffic.js";
import { capitalized, DocsLink, Panel, shortened } from "../elements/words.js";
import { linkTo, route } from "../route.js";
import { CopyCurl } from "./secret.js";

/** The request checks in order, each with its outcomes and their numbers of requests. An outcome opens below its check. */
export function Outcomes({ report }: Readonly<{ report: ShownReport }>) {
  const open = route.value.parts[0];
  const isMissing = open !== undefined && report.outcomes.every(({ outcome }) => outcome !== open);
  return (
    <Panel
      title="Request checks"
      name="checks"
      note="Filled: covered by clients. Ring: only by the story or this page (in parentheses). Dashed: not covered; open it to see how."
    >
      {isMissing && (
        <p class="panel muted">
          There is no outcome <bdi>{shortened(open, 100)}</bdi>.
        </p>
      )}
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
              const openRow = report.outcomes.find(({ outcome: id }) => id === open && exits.includes(id));
              return (
                <li key={name}>
                  <strong>{capitalized(name)}</strong>
                  <span class="muted small">
                    {question} {rules}
                  </span>
                  <ul class="bar exits" aria-label={`Outcomes of ${name}`}>
                    {exits.map((outcome) => (
                      <li key={outcome}>
                        <Exit outcome={outcome} report={report} isOpen={outcome === openRow?.outcome} />
                      </li>
                    ))}
                  </ul>
                  {openRow && <OpenOutcome key={openRow.outcome} row={openRow} report={report} />}
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
  outcome,
  report,
  isOpen,
}: Readonly<{ outcome: string; report: ShownReport; isOpen: boolean }>) {
  const count = report.outcomes.find(({ outcome: id }) => id === outcome)?.count ?? 0;
  const sentHere = report.from_story?.[outcome] ?? 0;
  const state = count > 0 ? "covered" : sentHere > 0 ? "by-story" : "missing";
  return (
    <a
      class={`exit tone-${toneOf(outcome)} exit-${state}`}
      href={isOpen ? linkTo("overview") : linkTo("overview", [outcome])}
      aria-current={isOpen}
      data-outcome={outcome}
    >
      <code>{outcome}</code> {count > 0 && count.toLocaleString("en")}{" "}
      {sentHere > 0 && `(${sentHere.toLocaleString("en")})`}
      {state === "missing" && <span class="visually-hidden">not covered</span>}
    </a>
  );
}

/** The members of a row that the page shows, of which none is missing. */
type ShownMember = "outcome" | "promised" | "covered" | "count" | "when" | "how_to_cover";
type MissingMembers = Readonly<Record<Exclude<keyof ReportOutcome, ShownMember>, never>>;

/** What an outcome means, who has covered it, and how to. It gets the focus; Escape closes it. */
function OpenOutcome({ row, report }: Readonly<{ row: ReportOutcome; report: ShownReport }>) {
  const { outcome, when, count, how_to_cover: how } = row satisfies MissingMembers;
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    box.current?.focus({ preventScroll: true });
    box.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const sentHere = report.from_story?.[outcome] ?? 0;
  const close = ({ key }: KeyboardEvent) => {
    if (key !== "Escape") return;
    document.querySelector<HTMLElement>('.exit[aria-current="true"]')?.focus();
    location.hash = linkTo("overview");
  };
  return (
    <section
      class="stack outcome"
      aria-label={`Outcome ${outcome}`}
      ref={box}
      tabIndex={-1}
      onKeyDown={close}
    >
      <p>
        <OutcomeBadge outcome={outcome} />: {when}. Client requests: {count.toLocaleString("en")}. Story and
        this page: {sentHere.toLocaleString("en")}.
      </p>
      {how && (
        <p>
          <strong>How to cover it:</strong> {how.text}.
        </p>
      )}
      <SendNow row={row} isQuiet />
      <p class="bar">
        {report.in_journal?.[outcome] && (
          <a href={linkTo("requests", [], { filter: outcome })}>Show these requests</a>
        )}
        <DocsLink to="errors#all-outcomes">About the outcomes</DocsLink>
      </p>
    </section>
  );
}

/** Buttons that cover an outcome: its request from this page, which does not count as a client's, or as a line for a shell. */
export function SendNow({ row, isQuiet }: Readonly<{ row: ReportOutcome; isQuiet: boolean }>) {
  const { outcome, how_to_cover: how } = row;
  // Stays when the report has another request, because this one has covered its outcome.
  const [sent, setSent] = useState<readonly [outcome: string, result: ShownSentRequest]>();
  // With other scopes, the scenario must change first.
  if (how === null || how.scopes !== undefined) return null;
  const { ref, request, scenario, reset, curl } = how;
  const send = async () => {
    setSent(undefined);
    if (reset) await call("/reset", { method: "POST" });
    const body = { key: ref, ...request };
    setSent([outcome, await call<ShownSentRequest>("/send", { method: "POST", body })]);
  };
  if (scenario !== null)
    return <a href={linkTo("sandbox", ["scenario"])}>Load {scenario}, which has this outcome</a>;
  const ask = { title: "Reset, then send it?", text: lossOfState, action: "Send it" };
  return (
    <>
      <div class="bar">
        <Button class={isQuiet ? "quiet" : ""} run={send} {...(reset && { ask })}>
          {reset ? "Reset, then send it" : "Send it now"}
        </Button>
        {/* Without the reset, it would not cover the outcome. */}
        {reset ? null : <CopyCurl keyRef={ref} curl={curl} />}
      </div>
      <output class="stack">
        {sent && (
          <>
            <strong>
              Sent for <OutcomeBadge outcome={sent[0]} />
            </strong>
            <SentResponse sent={sent[1]} />
          </>
        )}
      </output>
    </>
  );
}
