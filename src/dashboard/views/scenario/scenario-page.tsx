import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useResources } from "../../control/resource.js";
import { health, scenarios } from "../../control/resources.js";
import { ActionButton, RejectionText, useAction } from "../../elements/forms/action.js";
import { Ask, AskButton } from "../../elements/forms/ask.js";
import { saveFile } from "../../elements/save-file.js";
import { counted, firstSentence } from "../../elements/words.js";
import {
  apply,
  bringBack,
  check,
  draft,
  followScenario,
  hidesKeys,
  isChangedElsewhere,
  isEdited,
  loadBundled,
  type Problem,
  rejection,
  replaced,
  runningText,
  showRunning,
} from "./scenario-text.js";
import { selectPlace, TextEditor } from "./text-editor.js";

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
      <div class="scenario-parts">
        <section class="stack" aria-label="Text of the scenario">
          {runningText.value === undefined ? <p class="muted">Reading…</p> : <Text />}
        </section>
        <Problems />
        <BundledScenarios />
      </div>
    </>
  );
}

function LossOfScenario() {
  return (
    <>
      It replaces <strong>{health.data.value?.scenario}</strong>.{" "}
      {hidesKeys(runningText.value ?? "")
        ? "To get it back, start it again from its file: its pinned keys are hidden here."
        : "This page can bring it back until you reload it."}
    </>
  );
}

function Text() {
  const applying = useAction(apply);
  const isAsking = useSignal(false);
  // A text with errors is rejected, so nothing is lost.
  const start = () => {
    isAsking.value = check.peek()?.problems.every(({ level }) => level !== "error") ?? true;
    if (!isAsking.value) void applying.run();
  };
  const name = health.data.value?.scenario ?? "scenario";
  const save = () => saveFile(new Blob([draft.peek()], { type: "application/yaml" }), name, "yaml");
  return (
    <>
      <div class="stack scenario-bar">
        <div class="bar">
          <button type="button" aria-busy={applying.isRunning} onClick={start}>
            Apply
          </button>
          {isEdited.value ? (
            <AskButton
              class="quiet"
              question={{
                title: "Discard the edits?",
                action: "Discard them",
                run: async () => showRunning(),
                text: "The editor then shows the running scenario.",
              }}
            >
              Discard the edits
            </AskButton>
          ) : null}
          <button type="button" class="quiet" onClick={save}>
            Download
          </button>
          <output class="muted">
            {isEdited.value ? "Edited, not applied." : "This is the running scenario."}
          </output>
        </div>
        <NotApplied />
        {isChangedElsewhere.value ? <ChangedElsewhere /> : <Replaced />}
        {hidesKeys(draft.value) ? (
          <p class="notice warning">
            Pinned keys are hidden. Enter them again or remove them before you apply.
          </p>
        ) : null}
      </div>
      <TextEditor onApply={start} />
      {isAsking.value ? (
        <Ask
          title="Start this scenario?"
          action="Apply it"
          run={apply}
          loses="state"
          text={<LossOfScenario />}
          onClose={() => {
            isAsking.value = false;
          }}
        />
      ) : null}
    </>
  );
}

/** Why the text that is in the editor was not applied. */
function NotApplied() {
  const why = rejection.value;
  if (why === undefined) return null;
  const first = check.value?.problems.find(({ level }) => level === "error");
  return (
    <div class="notice warning not-applied">
      {first === undefined ? (
        <RejectionText problem={why} />
      ) : (
        <p class="rejection" role="alert">
          Not applied. {first.line === null ? null : `Line ${first.line}: `}
          <bdi>{first.message}</bdi>
        </p>
      )}
      <p class="muted">Nothing changed: the sandbox is still running.</p>
    </div>
  );
}

function ChangedElsewhere() {
  return (
    <p class="notice warning" role="alert">
      Another scenario is now running: <bdi>{health.data.value?.scenario}</bdi>. Your edits are still here;
      applying them replaces that scenario.
    </p>
  );
}

function Replaced() {
  if (replaced.value === undefined) return null;
  const { name, text: before } = replaced.value;
  return (
    <div class="notice bar" role="status">
      <p>
        The sandbox restarted with this scenario. It replaced <bdi>{name}</bdi>.
      </p>
      {hidesKeys(before) ? null : (
        <ActionButton class="quiet" run={bringBack}>
          Bring it back
        </ActionButton>
      )}
    </div>
  );
}

const maxProblems = 50;

function Problems() {
  const { problems = [], failure } = check.value ?? {};
  const count = problems.length;
  return (
    <section class="stack problems" aria-labelledby="problems">
      <h2 id="problems">Problems</h2>
      {failure === undefined ? (
        <p role="status">
          {check.value === undefined
            ? "Checking…"
            : `${count === 0 ? "No problems" : counted(count, "problem")} found.`}
        </p>
      ) : (
        <>
          <p>Failed to check the text.</p>
          <RejectionText problem={failure} />
        </>
      )}
      <ol>
        {problems.slice(0, maxProblems).map((problem, index) => (
          <OneProblem key={index} problem={problem} />
        ))}
      </ol>
      {count > maxProblems ? (
        <p class="muted">{(count - maxProblems).toLocaleString("en")} more are marked in the text.</p>
      ) : null}
    </section>
  );
}

function OneProblem({ problem }: { readonly problem: Problem }) {
  const { level, line, column, message, hint } = problem;
  const words = (
    <>
      <span class={`toned tone-${level === "error" ? "key" : "limit"}`}>{level}</span> <bdi>{message}</bdi>{" "}
      <span class="muted">
        <bdi>{hint}</bdi>
      </span>
    </>
  );
  if (line === null) return <li>{words}</li>;
  return (
    <li>
      <button type="button" class="quiet" onClick={() => selectPlace(problem)}>
        <span class="muted">
          {line}:{column}
        </span>{" "}
        {words}
      </button>
    </li>
  );
}

function BundledScenarios() {
  return (
    <section class="stack bundled" aria-labelledby="bundled">
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
              <AskButton
                class="quiet"
                question={{
                  title: `Load ${name}?`,
                  action: `Load ${name}${isEdited.value ? " and discard the edits" : ""}`,
                  run: () => loadBundled(name),
                  loses: "state",
                  text: <LossOfScenario />,
                }}
              >
                Load<span class="visually-hidden"> {name}</span>
              </AskButton>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
