import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../control/call.js";
import { showAtEnd, useData } from "../control/data.js";
import type { ControlData, ShownRequest } from "../control/responses.js";
import { linkTo, linkToKey } from "../control/route.js";
import { Shared, useShared } from "../control/shared.js";
import {
  Button,
  lossOfState,
  QuestionDialog,
  RejectionText,
  ShowData,
  useActions,
} from "../elements/action.js";
import { BodyText, CheckStrip, OutcomeText, Target, toneOf } from "../elements/request-parts.js";
import { counted, DocsLink, FactList, InstantText, Sentence, shortened } from "../elements/words.js";
import { Lifelines } from "./lifelines.js";
import { useScenarioName } from "./scenario.js";

type Story = ControlData["/story"];
type StepResult = NonNullable<Story["last"]>;

/** Transport headers are not part of the story, and ids mean nothing to an audience. */
const hiddenHeaders = ["content-length", "date", "connection", "content-type", "x-request-id"];

/** The view: a presenter runs the steps of the scenario's story. */
export function StoryView() {
  return (
    <ShowData path="/story">
      {(progress) => (progress.steps === 0 ? <NoStory /> : <Presenter progress={progress} />)}
    </ShowData>
  );
}

function NoStory() {
  return (
    <>
      <h1>Story</h1>
      <div class="panel stack">
        <p>
          The scenario <bdi>{useScenarioName()}</bdi> has no story: events and requests that you play here,
          step by step.
        </p>
        <p>
          <a href={linkTo("sandbox", ["scenario"])}>Load a scenario that has one</a>, such as rotation, or{" "}
          <DocsLink to="stories">write one</DocsLink>.
        </p>
      </div>
    </>
  );
}

const readStory = () => call<Story>("/story");

const runStep = () => call("/story/next", { method: "POST" });

/** Resets the sandbox to its scenario, and runs so many steps. An audience sees only the last one. */
function runFromStart(count: number): Promise<void> {
  return showAtEnd(async () => {
    await call("/reset", { method: "POST" });
    for (let step = 0; step < count; step++) await runStep();
  });
}

/** What a presenter can do: one after another, however fast the keys are pressed. */
function useSteps() {
  const { enqueue, problem } = useActions();
  /** How many steps run after the reset that the page asks about; `undefined` while it asks nothing. */
  const [askedCount, setAskedCount] = useState<number>();

  /** Runs steps from the start, after a question if the reset discards something. */
  const askAndRun = async (count: number) => {
    const clientRequests = await call<readonly ShownRequest[]>("/requests?source=client&limit=1");
    const { changed } = await readStory();
    if (changed || clientRequests.length > 0) setAskedCount(count);
    else await runFromStart(count);
  };

  // Each reads first how far the story is: an earlier press may have changed that.
  const next = async () => {
    const { done, steps } = await readStory();
    if (done === 0) await askAndRun(1);
    else if (done < steps) await runStep();
  };
  // A step cannot be undone: all before it run again.
  const back = async () => {
    const { done } = await readStory();
    if (done > 0) await askAndRun(done - 1);
  };
  return {
    problem,
    askedCount,
    closeQuestion: () => setAskedCount(undefined),
    next: () => enqueue(next),
    back: () => enqueue(back),
    startAgain: () => enqueue(() => askAndRun(0)),
  };
}

function Presenter({ progress }: Readonly<{ progress: Story }>) {
  const { last, steps, done, outline } = progress;
  const { problem, askedCount, closeQuestion, next, back, startAgain } = useSteps();
  const toggleLifelines = () => showLifelines(!areLifelinesOpen.value);
  useKeys({
    " ": next,
    ArrowRight: next,
    ArrowLeft: back,
    // The keys of a presenter's remote.
    PageDown: next,
    PageUp: back,
    l: toggleLifelines,
    L: toggleLifelines,
  });

  // A new step starts at its top.
  const stage = useRef<HTMLElement>(null);
  useEffect(() => stage.current?.scrollTo(0, 0), [done]);

  const isNew = done === 0;
  const isFinished = done === steps;
  // Only the outline has no verdict on a step that expects nothing.
  const wasExpected = last && outline[last.number - 1]?.as_expected;
  const failed = outline.filter((step) => step.as_expected === false).length;
  const result =
    failed === 0 ? (
      <strong class="toned tone-success">✓ As expected</strong>
    ) : (
      <strong class="toned tone-key">✗ {counted(failed, "step")} not as expected</strong>
    );
  return (
    <div class="story">
      <header class="bar">
        <h1>Story</h1>
        <p class="bar wide muted nowrap steps">
          {isNew ? counted(steps, "step") : `Step ${done} of ${steps}`}
          <progress max={steps} value={done} aria-label="Steps done" />
        </p>
        {isFinished && result}
        <div class="bar">
          <Button isDisabled={isNew} run={back}>
            <kbd>←</kbd> Back
          </Button>
          {isFinished && <Button run={startAgain}>Start again</Button>}
          {/* It stays at the end: Space then does nothing. */}
          <Button class="" isDisabled={isFinished} run={next}>
            {isNew ? "Start" : "Next step"} <kbd>Space</kbd>
          </Button>
        </div>
      </header>
      <section class="story-stage" aria-label="Latest step" aria-live="polite" ref={stage}>
        <RejectionText problem={problem} />
        {last === null ? (
          <Opening progress={progress} />
        ) : (
          <Stage key={last.number} step={last} wasExpected={wasExpected ?? null} />
        )}
      </section>
      <StoryLifelines />
      {askedCount !== undefined && (
        <QuestionDialog
          title="Reset the sandbox for the story?"
          text={lossOfState}
          action="Reset and continue"
          run={() => runFromStart(askedCount)}
          onClose={closeQuestion}
        />
      )}
    </div>
  );
}

/** How many keys are drawn at most. */
const maxLines = 6;

/** The lifelines of the keys that the story uses, of those that the sandbox has now. */
function StoryLifelines() {
  const { lifelines = [], left = 0 } = useData(`/lifelines?story=true&limit=${maxLines}`).data ?? {};
  const isOpen = useShared(areLifelinesOpen);
  if (lifelines.length === 0) return null;
  return (
    <details
      class="panel lifelines"
      open={isOpen}
      onToggle={({ currentTarget }) => showLifelines(currentTarget.open)}
    >
      <summary>
        Lifelines <kbd>L</kbd>
      </summary>
      {isOpen && <Lifelines lines={lifelines} left={left} linkTo={linkToKey} />}
    </details>
  );
}

/** Whether a story shows lifelines: at first where they leave room for a step. */
const areLifelinesOpen = new Shared(innerHeight >= 900);

function showLifelines(isOpen: boolean): void {
  areLifelinesOpen.value = isOpen;
}

/** Runs a function when its key is pressed, such as Space or an arrow. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  // The listener is added once, and runs what the keys do at the last drawing.
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      const run = latest.current[key];
      if (run === undefined || event.ctrlKey || event.metaKey || event.altKey) return;

      // Space presses the focused button, as everywhere, and a dialog has its own keys.
      const owners = key === " " ? "button, a, summary, dialog" : "dialog";
      if (target instanceof Element && target.closest(owners)) return;
      event.preventDefault();
      if (!event.repeat) run();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** What is shown before the first step. */
function Opening({ progress }: Readonly<{ progress: Story }>) {
  const { done, name, description } = progress;
  const scenario = useScenarioName();
  // After a restart with a state file, only the number of steps is known.
  if (done > 0) return <p class="narration">The sandbox restarted. Press Space for the next step.</p>;
  return (
    <>
      <p class="story-title" dir="auto">
        {name ?? scenario}
      </p>
      <p class="narration" dir="auto">
        {shortened(description ?? "", 1000)}
      </p>
      <p class="muted">
        Press Space to start. This resets the sandbox to its scenario. Until the end, only steps move the
        clock, also for clients. L shows and hides the lifelines of the keys.
      </p>
    </>
  );
}

/** The step of a story that ran last. Its narration leaves with it. */
function Stage({ step, wasExpected }: Readonly<{ step: StepResult; wasExpected: boolean | null }>) {
  const { say, text, request, response, checks, performed, meanwhile } = step;
  return (
    <>
      {wasExpected === false && <Failure step={step} />}
      {text && (
        <p class="narration">
          <Sentence>{text}</Sentence>
        </p>
      )}
      {say && (
        <p class="narration" dir="auto">
          {say}
        </p>
      )}
      {/* Before the response, whose cause they may be. */}
      {meanwhile.map((event, index) => (
        <p key={index} class="muted">
          <InstantText at={event.at} />: <Sentence>{event.text}</Sentence> {event.message}
        </p>
      ))}
      {request && <RequestLine request={request} />}
      {response && <ResponsePanel response={response} checks={checks} isAsExpected={wasExpected === true} />}
      {performed?.error && <p class="muted">{performed.error.message}</p>}
    </>
  );
}

function RequestLine({ request }: Readonly<{ request: NonNullable<StepResult["request"]> }>) {
  const { key, headers, body, times } = request;
  const isWithoutKey = key === "none";
  return (
    <section class="stack" aria-label="The request">
      <p>
        <Target request={request} /> {isWithoutKey ? "without a key" : "with the key "}
        {!isWithoutKey && <strong>{key}</strong>}
        {times !== 1 && `, ${times} times`}
      </p>
      <Headers headers={headers} />
      {body && <BodyText text={body} />}
    </section>
  );
}

function ResponsePanel(props: {
  readonly response: NonNullable<StepResult["response"]>;
  readonly checks: StepResult["checks"];
  readonly isAsExpected: boolean;
}) {
  const { response, checks, isAsExpected } = props;
  const { headers, body, outcome } = response;
  return (
    <section class={`panel response tone-${toneOf(outcome)}`} aria-label="The response">
      <p class="bar apart">
        <span>
          <OutcomeText of={response} />
        </span>
        {isAsExpected && <span class="toned tone-success">✓ As expected</span>}
      </p>
      <Headers headers={headers} />
      <BodyText text={body} />
      <CheckStrip checks={checks ?? []} outcome={outcome} />
    </section>
  );
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const shown = Object.entries(headers).filter(([name]) => !hiddenHeaders.includes(name));
  if (shown.length === 0) return null;
  const pairs = shown.map(([name, value]) => [name, shortened(value, 400)] as const);
  return <FactList class="pairs" facts={pairs} />;
}

/** Why a step did not run, or what was not as expected. */
function Failure({ step }: Readonly<{ step: StepResult }>) {
  const { failure, differences } = step;
  return (
    <div class="notice" role="alert">
      {failure === null && <p>Not as expected:</p>}
      {failure && <Sentence>{`This step cannot run: ${failure.message}`}</Sentence>}
      {differences.map(({ at, expected, found }) => (
        <p key={at}>
          <code>{at}</code>: expected <bdi>{expected}</bdi>, found <bdi>{found}</bdi>
        </p>
      ))}
    </div>
  );
}
