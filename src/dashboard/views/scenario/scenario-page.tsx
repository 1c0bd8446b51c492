import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useResources } from "../../control/resource.js";
import { health, scenarios } from "../../control/resources.js";
import { RejectionText, useAction } from "../../elements/forms/action.js";
import { ConfirmLoss, LossButton } from "../../elements/forms/loss.js";
import { counted, firstSentence } from "../../elements/words.js";
import { openEditor } from "./editor.js";
import type { Problem } from "./problem.js";
import {
  apply,
  base,
  checkProblem,
  download,
  followScenario,
  goTo,
  isChangedElsewhere,
  isEdited,
  lastDone,
  loadBundled,
  problems,
  revert,
  showRunning,
  textChanged,
  textToEdit,
  useEditor,
} from "./scenario-text.js";

export function ScenarioPage() {
  useResources(health, scenarios);
  useEffect(followScenario, []);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (isEdited.peek()) event.preventDefault();
    };
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
  return (
    <>
      <h1>Scenario</h1>
      <div class="stack scenario-parts">
        <section class="stack" aria-label="Text of the scenario">
          {isChangedElsewhere.value ? <ChangedElsewhere /> : null}
          {base.value?.includes("_…") ? (
            <p class="notice warning">
              Pinned keys are hidden. Enter them again or remove them before you apply.
            </p>
          ) : null}
          {base.value === undefined ? <p class="muted">Reading…</p> : <TextEditor />}
          <ProblemList />
        </section>
        <BundledScenarios />
      </div>
    </>
  );
}

function TextEditor() {
  const host = useRef<HTMLDivElement>(null);
  const applying = useAction(apply);
  const isAsking = useSignal(false);
  // A text with errors is rejected, so nothing is lost.
  const start = () => {
    isAsking.value = problems.peek()?.every(({ level }) => level !== "error") ?? true;
    if (!isAsking.value) void applying.run();
  };
  const shown = useRef<unknown>(undefined);
  useEffect(() => {
    if (shown.current === applying.problem || problems.value === undefined) return;
    shown.current = applying.problem;
    if (applying.problem) document.querySelector(".problems li")?.scrollIntoView({ block: "center" });
  });
  const startNow = useRef(start);
  startNow.current = start;
  useEffect(
    () =>
      useEditor(
        openEditor({
          host: host.current as HTMLElement,
          text: textToEdit(),
          onChange: textChanged,
          onApply: () => startNow.current(),
        }),
      ),
    [],
  );
  return (
    <>
      <div class="bar">
        <button type="button" aria-busy={applying.isRunning} onClick={start}>
          Apply
        </button>
        <button type="button" class="quiet" disabled={!isEdited.value} onClick={revert}>
          Revert
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => download(health.data.value?.scenario ?? "scenario")}
        >
          Download
        </button>
        <output class="muted">
          {lastDone.value || (isEdited.value ? "Edited, not applied." : "This is the running scenario.")}
        </output>
      </div>
      {applying.problem === undefined ? null : (
        <div class="not-applied">
          {applying.problem.code === "validation_failed" && problems.value?.length ? (
            <p class="rejection" role="alert">
              Not applied: the text has problems, listed below the editor. <code>validation_failed</code>
            </p>
          ) : (
            <RejectionText problem={applying.problem} />
          )}
          <p class="muted">Nothing changed: the sandbox is still running.</p>
        </div>
      )}
      {isAsking.value ? (
        <ConfirmLoss
          title="Start this scenario?"
          action="Apply it"
          run={async () => void applying.run()}
          onClose={() => {
            isAsking.value = false;
          }}
        />
      ) : null}
      <div class="editor" ref={host} />
      <p class="muted small">
        <kbd>Tab</kbd> indents; <kbd>Escape</kbd>, then <kbd>Tab</kbd> leaves the editor. <kbd>Ctrl</kbd>/
        <kbd>⌘</kbd> <kbd>S</kbd> applies, <kbd>Ctrl</kbd>/<kbd>⌘</kbd> <kbd>F</kbd> finds, <kbd>Ctrl</kbd>{" "}
        <kbd>Space</kbd> suggests, <kbd>F8</kbd> goes to the next problem.
      </p>
    </>
  );
}

function ChangedElsewhere() {
  return (
    <div class="stack notice warning" role="alert">
      <p>
        Another scenario is now running
        {health.data.value === undefined ? "" : ": "}
        <bdi>{health.data.value?.scenario}</bdi>. Your edits are still here; applying them replaces that
        scenario.
      </p>
      <button type="button" class="quiet" onClick={showRunning}>
        Discard the edits and show the running scenario
      </button>
    </div>
  );
}

const mostProblems = 50;

function ProblemList() {
  const found = problems.value;
  if (checkProblem.value !== undefined) {
    return (
      <div>
        <p>Failed to check the text.</p>
        <RejectionText problem={checkProblem.value} />
      </div>
    );
  }
  const count = found?.length ?? 0;
  const summary =
    found === undefined ? "Checking…" : `${count === 0 ? "No problems" : counted(count, "problem")} found.`;
  return (
    <section class="stack problems" aria-labelledby="problems">
      <h2 id="problems">Problems</h2>
      <p role="status">{summary}</p>
      <ol>
        {(found ?? []).slice(0, mostProblems).map((problem, index) => (
          <OneProblem key={index} problem={problem} />
        ))}
      </ol>
      {count > mostProblems ? (
        <p class="muted">{(count - mostProblems).toLocaleString("en")} more are marked in the text.</p>
      ) : null}
    </section>
  );
}

function OneProblem({ problem }: { readonly problem: Problem }) {
  const { level, line, column, message, hint } = problem;
  const text = (
    <>
      <span class={`toned tone-${level === "error" ? "key" : "limit"}`}>{level}</span> <bdi>{message}</bdi>
      {hint === null ? null : (
        <span class="muted">
          {" "}
          <bdi>{hint}</bdi>
        </span>
      )}
    </>
  );
  if (line === null) return <li>{text}</li>;
  return (
    <li>
      <button type="button" class="quiet" onClick={() => goTo(problem)}>
        <span class="place">
          {line}:{column}
        </span>{" "}
        {text}
      </button>
    </li>
  );
}

function BundledScenarios() {
  return (
    <section class="stack" aria-labelledby="bundled">
      <h2 id="bundled">Bundled scenarios</h2>
      <ul class="list">
        {(scenarios.data.value ?? []).map(({ name, description }) => {
          const isRunning = name === health.data.value?.scenario;
          return (
            <li key={name} class={isRunning ? "bar is-running" : "bar"}>
              <div class="wide">
                <h3>{name}</h3>
                <p class="muted small">{firstSentence(description)}</p>
              </div>
              <LossButton
                class="quiet"
                title={`Load ${name}?`}
                action={`Load ${name}${isEdited.value ? " and discard the edits" : ""}`}
                run={() => loadBundled(name)}
              >
                Load<span class="visually-hidden"> {name}</span>
              </LossButton>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
