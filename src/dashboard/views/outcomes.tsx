import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../control/call.js";
import type { ReportOutcome, ShownReport, ShownSentRequest } from "../control/responses.js";
import { Button, lossOfState, Read } from "../elements/action.js";
import { OutcomeBadge, SentResponse, toneOf } from "../elements/traffic.js";
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
  report: { outcomes, from_story: fromStory = {} },
  isOpen,
}: Readonly<{ outcome: string; report: ShownReport; isOpen: boolean }>) {
  const count = outcomes.find(({ outcome: id }) => id === outcome)?.count ?? 0;
  const sentHere = fromStory[outcome] ?? 0;
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

/** What an outcome means, who has covered it, and how to. It gets the focus; Escape closes it. */
function OpenOutcome({
  row,
  report: { from_story: fromStory, in_journal: inJournal },
}: {
  readonly row: ReportOutcome;
  readonly report: ShownReport;
}) {
  const { outcome, when, count, how_to_cover: how } = row;
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    box.current?.focus({ preventScroll: true });
    box.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const sentHere = fromStory?.[outcome] ?? 0;
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
        {inJournal?.[outcome] && (
          <a href={linkTo("requests", [], { filter: outcome })}>Show these requests</a>
        )}
        <DocsLink to="errors.md#all-outcomes">About the outcomes</DocsLink>
      </p>
    </section>
  );
}

/** Buttons that cover an outcome: its request from this page, which does not count as a client's, or as a line for a shell. */
export function SendNow({
  row: { outcome, how_to_cover: how },
  isQuiet,
}: Readonly<{ row: ReportOutcome; isQuiet: boolean }>) {
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
