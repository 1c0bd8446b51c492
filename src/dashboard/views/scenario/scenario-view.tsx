import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, fetchControl } from "../../control/call.js";
import { resource, useResources } from "../../control/resource.js";
import { health, scenarios } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { DocsLink } from "../../elements/docs-link.js";
import { RejectionText, useAction } from "../../elements/forms/action.js";
import { AskButton } from "../../elements/forms/ask.js";
import { saveFile } from "../../elements/save-file.js";
import { counted, firstSentence } from "../../elements/words.js";

/** The text of the running scenario. Its pinned keys are hidden. */
const running = resource("/scenario", async (path) => (await fetchControl(path)).text());

/** A problem of a text, as in `svc-sandbox validate`. */
type Problem = Shown<"Validation">["problems"][number];

interface ChosenFile {
  readonly name: string;
  readonly text: string;
  readonly problems: readonly Problem[];
}

/** A checked file from the reader's disk, which is shown in place of the running scenario until it is loaded or closed. */
const chosenFile = signal<ChosenFile | undefined>(undefined);

const closeFile = () => {
  chosenFile.value = undefined;
};

export function ScenarioView() {
  useResources(health, running, scenarios);
  useEffect(() => closeFile, []);
  return (
    <>
      <h1>Scenario</h1>
      <div class="scenario-parts">
        <section class="stack" aria-label="Text of the scenario">
          {chosenFile.value === undefined ? <Running /> : <FileText of={chosenFile.value} />}
        </section>
        <OtherScenarios />
      </div>
    </>
  );
}

const nameOfRunning = () => health.data.value?.scenario ?? "scenario";

function Running() {
  const text = running.data.value;
  const problem = running.problem.value;
  if (text === undefined) {
    return problem === undefined ? <p class="muted">Reading…</p> : <RejectionText problem={problem} />;
  }
  const save = () => saveFile(new Blob([text], { type: "application/yaml" }), nameOfRunning(), "yaml");
  return (
    <>
      <div class="bar">
        <h2>
          <bdi>{nameOfRunning()}</bdi>
        </h2>
        <button type="button" class="quiet" onClick={save}>
          Download
        </button>
        {text.includes("_…") ? <span class="muted">Pinned keys are hidden.</span> : null}
      </div>
      <p class="muted">
        To change it, edit the file with the <DocsLink to="scenarios.md">schema</DocsLink> in your editor.
        This server follows each saved change if you start it with{" "}
        <code>npx --no-install svc-sandbox start my.yaml --watch</code>.
      </p>
      <Lines text={text} />
    </>
  );
}

const maxProblems = 50;

/** A file that does not run, with its problems. */
function FileText({ of: { name, text, problems } }: { readonly of: ChosenFile }) {
  const hasErrors = problems.some(({ level }) => level === "error");
  return (
    <>
      <div class="bar">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        {hasErrors ? null : (
          <LoadButton
            name={name}
            load={async () => {
              await fetchControl("/scenario", { method: "PUT", yaml: text });
              closeFile();
            }}
          />
        )}
        <button type="button" class="quiet" onClick={closeFile}>
          Close<span class="visually-hidden"> {name}</span>
        </button>
      </div>
      <p role={hasErrors ? "alert" : "status"} class={hasErrors ? "rejection" : "muted"}>
        {problems.length === 0 ? "No problems" : counted(problems.length, "problem")} found.
        {hasErrors ? " Fix the errors in the file, and choose it again. The running scenario stays." : null}
      </p>
      {problems.length === 0 ? null : (
        <ol class="list">
          {problems.slice(0, maxProblems).map((problem, index) => (
            <OneProblem key={index} problem={problem} />
          ))}
        </ol>
      )}
      {problems.length > maxProblems ? <p class="muted">The text marks the others.</p> : null}
      <Lines text={text} marked={problems} />
    </>
  );
}

function OneProblem({ problem }: { readonly problem: Problem }) {
  const { level, line, column, message, hint } = problem;
  return (
    <li>
      {line === null ? null : (
        <>
          <button type="button" class="quiet" onClick={() => selectPlace(problem)}>
            {line}:{column}
          </button>{" "}
        </>
      )}
      <span class={`toned tone-${level === "error" ? "key" : "limit"}`}>{level}</span> <bdi>{message}</bdi>{" "}
      <span class="muted">
        <bdi>{hint}</bdi>
      </span>
    </li>
  );
}

interface LinesProps {
  readonly text: string;
  /** The problems whose lines get a mark. */
  readonly marked?: readonly Problem[];
}

/** A text with the numbers of its lines. */
function Lines({ text, marked = [] }: LinesProps) {
  const wrong = new Set(marked.map(({ line }) => line));
  const numbers = text
    .trimEnd()
    .split("\n")
    .map((_, index) => (wrong.has(index + 1) ? `✗ ${index + 1}` : index + 1));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling requires focus for keyboard users
    <section class="lines" aria-label="Scenario as YAML" tabIndex={0}>
      <pre aria-hidden="true">{numbers.join("\n")}</pre>
      <pre class="text">{text}</pre>
    </section>
  );
}

/** Selects the word at the place of a problem, in the middle of the text. */
function selectPlace({ line, column }: Problem): void {
  const box = document.querySelector<HTMLElement>(".lines");
  const node = box?.querySelector(".text")?.firstChild;
  if (!box || !(node instanceof Text) || line === null || column === null) return;
  const lines = node.data.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + column - 1;
  const word = /^[\w.-]*/.exec(node.data.slice(start))?.[0] ?? "";
  box.focus();
  getSelection()?.setBaseAndExtent(node, start, node, start + word.length);
  box.scrollTop = (line / lines.length) * box.scrollHeight - box.clientHeight / 2;
}

/** The scenario that the sandbox was started with, the bundled ones, and a file. */
function OtherScenarios() {
  return (
    <section class="stack" aria-labelledby="others">
      <h2 id="others">Load another one</h2>
      <ul class="list">
        {(scenarios.data.value ?? []).map(({ name, description, started_with: isFirst, running: runs }) => (
          <li key={name} class={runs ? "bar is-running" : "bar"}>
            <div class="wide">
              <h3>
                <bdi>{name}</bdi>
              </h3>
              {isFirst ? <p class="small">The sandbox was started with it.</p> : null}
              <p class="muted small">{firstSentence(description)}</p>
            </div>
            <LoadButton
              name={name}
              load={() => call("/scenario", { method: "PUT", body: { name } }).then(closeFile)}
            />
          </li>
        ))}
        <li>
          <FileChoice />
        </li>
      </ul>
    </section>
  );
}

function LoadButton({ name, load }: { readonly name: string; readonly load: () => Promise<unknown> }) {
  const isListed = scenarios.data.value?.some(({ running: runs }) => runs) ?? true;
  return (
    <AskButton
      class="quiet"
      question={{
        title: `Load ${name}?`,
        action: `Load ${name}`,
        run: load,
        loses: "state",
        text: isListed
          ? `It replaces ${nameOfRunning()}, which stays in the list.`
          : `It replaces ${nameOfRunning()}, which is in no list: download it first if you have no file of it.`,
      }}
    >
      Load<span class="visually-hidden"> {name}</span>
    </AskButton>
  );
}

/** Reads and checks a file. Nothing changes until somebody loads it. */
function FileChoice() {
  const input = useRef<HTMLInputElement>(null);
  const { run, problem } = useAction(async (file: File) => {
    const text = await file.text();
    const { problems } = await call<Shown<"Validation">>("/scenario/validate", {
      method: "POST",
      yaml: text,
    });
    chosenFile.value = { name: file.name, text, problems };
    scrollTo(0, 0);
  });
  const read = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const [file] = currentTarget.files ?? [];
    if (file !== undefined) void run(file);
    // The same file can be chosen again once it is fixed.
    currentTarget.value = "";
  };
  return (
    <div class="bar">
      <div class="wide">
        <h3>A file</h3>
        <p class="muted small">The page checks it first, and shows its problems.</p>
      </div>
      <input ref={input} type="file" accept=".yaml,.yml" aria-label="Scenario file" hidden onChange={read} />
      <button type="button" class="quiet" onClick={() => input.current?.click()}>
        A file…
      </button>
      <RejectionText problem={problem} />
    </div>
  );
}
