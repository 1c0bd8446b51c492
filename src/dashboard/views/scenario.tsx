import { ControlError, call, fetchControl } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ControlData } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { Button, lossOfState, RejectionText, ShowData, useActions, useOffline } from "../elements/action.js";
import { saveFile } from "../elements/copy.js";
import { counted, DocsLink, fileName, Panel, withoutExtension } from "../elements/words.js";

interface ChosenFile {
  readonly name: string;
  readonly content: Blob;
  readonly text: string;
  readonly problems: readonly {
    readonly line: number | null;
    readonly column: number | null;
    readonly level: "error" | "warning";
    readonly message: string;
    readonly hint: string | null;
  }[];
}

/** A checked file from the reader's disk, shown in place of the running scenario until it is loaded or canceled. */
const chosenFile = new Shared<ChosenFile | undefined>(undefined);

const closeFile = () => {
  chosenFile.value = undefined;
};

/** The name by which the running scenario was started, such as that of its file; `scenario` until it is read. */
export const useScenarioName = () => useData("/health").data?.scenario ?? "scenario";

export function ScenarioPanel() {
  const file = useShared(chosenFile);
  const running = <ShowData path="/scenario">{(text) => <Running text={text} />}</ShowData>;
  return (
    <Panel title="Scenario" name="scenario">
      <div class="with-aside">
        <div class="stack">{file === undefined ? running : <FileText file={file} />}</div>
        <Scenarios />
      </div>
    </Panel>
  );
}

function Running({ text }: Readonly<{ text: string }>) {
  const name = fileName(useScenarioName());
  const save = () => saveFile(new Blob([text], { type: "application/yaml" }), withoutExtension(name), "yaml");
  return (
    <>
      <div class="bar apart">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <Button worksOffline class="quiet small" run={save}>
          Download
        </Button>
      </div>
      <p class="muted">
        To change it, download it, edit it (<DocsLink to="scenarios">guide</DocsLink>), and choose the file:
        {text.includes("_…") && " Pinned keys are hidden."}
      </p>
      <FileChoice />
      <YamlText text={text} />
    </>
  );
}

function YamlText({ text }: Readonly<{ text: string }>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling requires focus for keyboard users
    <section class="code yaml" aria-label="Scenario as YAML" tabIndex={0}>
      <pre>{text}</pre>
    </section>
  );
}

const maxProblems = 50;

/** A file with its problems, to load unless one of them is an error. */
function FileText({ file }: Readonly<{ file: ChosenFile }>) {
  const { name, text, content, problems } = file;
  const hasErrors = problems.some(({ level }) => level === "error");
  const load = () => fetchControl("/scenario", { method: "PUT", yaml: content });

  const lines = text.split("\n");
  const rows = problems.slice(0, maxProblems).map((problem, index) => {
    const { level, line, column, message, hint } = problem;
    const tone = level === "error" ? "key" : "limit";
    return (
      <li key={index}>
        <span class={`toned tone-${tone}`}>{level}</span> <bdi>{message}</bdi> <bdi class="muted">{hint}</bdi>
        {line && (
          <pre class="code">
            {line}:{column} {lines[line - 1]?.trim().slice(0, 200)}
          </pre>
        )}
      </li>
    );
  });
  return (
    <>
      <div class="bar">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        {!hasErrors && <LoadButton name={name} load={load} />}
        <Button worksOffline class="quiet small" run={closeFile}>
          Cancel
        </Button>
      </div>
      <p role={hasErrors ? "alert" : "status"} class={hasErrors ? "rejection" : "muted"}>
        {problems.length === 0 ? "No problems" : counted(problems.length, "problem")} found.
        {hasErrors && " Fix the errors, and choose the file again."}
      </p>
      <FileChoice />
      <ol class="list">{rows}</ol>
      {!hasErrors && <YamlText text={text} />}
    </>
  );
}

/** The scenario that the sandbox was started with, and the bundled ones. */
function Scenarios() {
  const scenarioRow = ({ name, description, running }: ControlData["/scenarios"][number]) => {
    const load = () => call("/scenario", { method: "PUT", body: { name } });
    const firstSentence = /^.*?[.!?](?=\s|$)/s.exec(description)?.[0];
    return (
      <li key={name} class="bar nowrap">
        <div class="wide" dir="auto">
          <strong>{name}</strong>
          <p class="muted small">{firstSentence ?? description}</p>
        </div>
        {running ? <span class="badge">running</span> : <LoadButton name={name} load={load} />}
      </li>
    );
  };
  return (
    <section class="stack" aria-label="Load another one">
      <h3>Load another one</h3>
      <ShowData path="/scenarios">{(all) => <ul class="list">{all.map(scenarioRow)}</ul>}</ShowData>
    </section>
  );
}

function LoadButton({ name, load }: { readonly name: string; readonly load: () => Promise<unknown> }) {
  const runningName = useScenarioName();
  const scenarios = useData("/scenarios").data;
  // One that is in no list cannot be loaded again. Nobody is warned before the list is read.
  const isListed = scenarios?.some(({ running }) => running) ?? true;
  let loss = lossOfState;
  if (!isListed) loss += ` ${runningName} is in no list: download it first.`;

  const question = { title: `Load ${name}?`, text: loss, action: `Load ${name}` };
  return (
    <Button class="quiet small" ask={question} run={() => load().then(closeFile)}>
      Load<span class="visually-hidden"> {name}</span>
    </Button>
  );
}

/** Reads and checks a file. Nothing changes until somebody loads it. */
function FileChoice() {
  const { enqueue, problem } = useActions();
  const check = async (file: File) => {
    // As bytes, so that the sandbox checks what is in the file.
    const bytes = await file.arrayBuffer().catch(() => {
      throw new ControlError("unreadable", "This file cannot be read.");
    });
    const content = new Blob([bytes]);
    const options = { method: "POST", yaml: content } as const;
    const { problems } = await call<Pick<ChosenFile, "problems">>("/scenario/validate", options);
    chosenFile.value = { name: file.name, content, text: await content.text(), problems };
  };
  const choose = ({ currentTarget: input }: Readonly<{ currentTarget: HTMLInputElement }>) => {
    const file = input.files?.[0];
    if (file !== undefined) enqueue(() => check(file));
    // The same file can be chosen again once it is fixed.
    input.value = "";
  };
  return (
    <label class="field">
      Scenario file
      <input type="file" accept=".yaml,.yml" disabled={useOffline()} onChange={choose} />
      <RejectionText problem={problem} />
    </label>
  );
}
