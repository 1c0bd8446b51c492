import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { health, requestChecks, story } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { DocsLink } from "../../elements/docs-link.js";
import { RejectionText, useActionQueue } from "../../elements/forms/action.js";
import { Ask, AskButton } from "../../elements/forms/ask.js";
import { useKeyboard } from "../../elements/keyboard.js";
import { Read } from "../../elements/read.js";
import { counted, shortened } from "../../elements/words.js";
import { linkTo } from "../../route.js";
import { Stage } from "./stage.js";

export function StoryView() {
  useResources(requestChecks);
  return (
    <>
      {story.data.value?.steps ? null : <h1>Story</h1>}
      <Read of={story}>
        {(progress) => (progress.steps === 0 ? <NoStory /> : <Presenter progress={progress} />)}
      </Read>
    </>
  );
}

const runNext = () => call<Shown<"NextStep">>("/story/next", { method: "POST" });

/** Goes back one step: resets the sandbox and runs the earlier steps. Returns the number of the last step. */
async function replayBack(): Promise<number> {
  const { done } = await call<Shown<"Story">>("/story");
  if (done === 0) return 0;
  await call("/reset", { method: "POST" });
  for (let step = 1; step < done; step++) await runNext();
  return done - 1;
}

/** The steps of a presenter, one after another, however fast the keys are pressed. */
function useSteps(stepsRun: number) {
  const { add, problem } = useActionQueue();
  const replayedTo = useSignal(0);
  const isAsking = useSignal(false);
  // After the last step, the next press ends the presentation.
  const isClosing = useSignal(false);
  const next = () =>
    add(async () => {
      replayedTo.value = 0;
      const { step } = await runNext();
      isClosing.value = step === null;
    });
  const replay = async () => {
    replayedTo.value = await replayBack();
  };
  // A replay does not repeat client requests, because a story does not contain them.
  const back = () =>
    add(async () => {
      if (isClosing.value) {
        isClosing.value = false;
        return;
      }
      const ofClients = await call<readonly Shown<"Request">[]>("/requests?source=client&limit=1");
      isAsking.value = stepsRun > 0 && ofClients.length > 0;
      if (!isAsking.value) await replay();
    });
  return { problem, replayedTo, isAsking, isClosing, next, replay, back };
}

function Presenter({ progress }: { readonly progress: Shown<"Story"> }) {
  const stage = useRef<HTMLDivElement>(null);
  const { last, over, done: stepsRun, outline } = progress;
  const { problem, replayedTo, isAsking, isClosing, next, replay, back } = useSteps(stepsRun);
  const again = () => stage.current?.querySelector<HTMLElement>("[aria-keyshortcuts=R]")?.click();
  const fill = () =>
    void (document.fullscreenElement ? document.exitFullscreen() : stage.current?.requestFullscreen());
  // Page Down and Page Up are the keys of clickers.
  useKeys({ " ": next, ArrowRight: next, PageDown: next, ArrowLeft: back, PageUp: back, r: again, f: fill });
  const shown = useRef(stepsRun);
  useEffect(() => {
    if (shown.current === stepsRun) return;
    shown.current = stepsRun;
    isClosing.value = false;
    // A new step starts at its top.
    const scroller = document.fullscreenElement ?? document.scrollingElement;
    if (scroller !== null) scroller.scrollTop = 0;
  }, [stepsRun]);
  return (
    <div class="story" ref={stage}>
      <StoryBar progress={progress} isClosing={isClosing.value} next={next} back={back} fill={fill} />
      <section class="stack story-stage" aria-label="Latest step" aria-live="polite">
        <RejectionText problem={problem} />
        {stepsRun > 0 && replayedTo.value === stepsRun ? (
          <p class="notice" role="status">
            Replayed from the start, up to step {stepsRun}.
          </p>
        ) : null}
        {isClosing.value ? (
          <Closing progress={progress} />
        ) : last === null ? (
          <Opening stepsRun={stepsRun} />
        ) : (
          <Stage
            key={last.number}
            step={last}
            requestChecks={requestChecks.data.value}
            verdict={outline[last.number - 1]?.as_expected ?? null}
          />
        )}
        {over && !isClosing.value ? <p class="muted">This was the last step.</p> : null}
      </section>
      <Outline progress={progress} />
      {isAsking.value ? (
        <Ask
          title="Replay the story up to the previous step?"
          action="Replay it"
          run={replay}
          loses="state"
          onClose={() => {
            isAsking.value = false;
          }}
        />
      ) : null}
    </div>
  );
}

interface StoryBarProps {
  readonly progress: Shown<"Story">;
  readonly isClosing: boolean;
  readonly next: () => void;
  readonly back: () => void;
  readonly fill: () => void;
}

function StoryBar({ progress: { steps, done: stepsRun }, isClosing, next, back, fill }: StoryBarProps) {
  return (
    <header class="bar story-bar">
      <h1>Story</h1>
      <p class="bar muted story-progress">
        {stepsRun === 0
          ? counted(steps, "step")
          : `Step ${stepsRun.toLocaleString("en")} of ${steps.toLocaleString("en")}`}
        <progress max={steps} value={stepsRun} aria-label="Steps done" />
      </p>
      <p class="bar story-buttons">
        <button type="button" aria-keyshortcuts="Space ArrowRight" disabled={isClosing} onClick={next}>
          Next step <kbd>Space</kbd>
        </button>
        <button
          type="button"
          class="quiet"
          aria-keyshortcuts="ArrowLeft"
          title="Replays the story up to the previous step"
          disabled={stepsRun === 0}
          onClick={back}
        >
          Back <kbd>←</kbd>
        </button>
        <AskButton
          class="quiet"
          shortcut="R"
          question={{
            title: "Start the story again?",
            action: "Start again",
            run: () => call("/reset", { method: "POST" }),
            loses: "state",
          }}
        >
          Start again <kbd>R</kbd>
        </AskButton>
        <button type="button" class="quiet" aria-keyshortcuts="F" onClick={fill}>
          Full screen <kbd>F</kbd>
        </button>
      </p>
    </header>
  );
}

/** The name of the scenario, for an audience. */
function StoryTitle() {
  useResources(health);
  const name = story.data.value?.name ?? health.data.value?.scenario ?? "";
  return (
    <p class="story-title">
      <bdi>{shortened(name, 100)}</bdi>
    </p>
  );
}

// After a restart with --state, only the number of steps is known.
function Opening({ stepsRun }: { readonly stepsRun: number }) {
  if (stepsRun > 0) return <p class="narration">The sandbox restarted. Press Space for the next step.</p>;
  const description = story.data.value?.description ?? null;
  return (
    <>
      <StoryTitle />
      {description === null ? null : (
        <p class="narration">
          <bdi>{shortened(description, 1000)}</bdi>
        </p>
      )}
      <p class="muted">Press Space for the first step.</p>
    </>
  );
}

function Closing({ progress: { outline, steps } }: { readonly progress: Shown<"Story"> }) {
  const held = outline.filter((step) => step.as_expected === true).length;
  const failed = outline.filter((step) => step.as_expected === false).length;
  return (
    <>
      <StoryTitle />
      <p class="narration">The end. {counted(steps, "step")}.</p>
      <p class={failed === 0 ? "toned tone-success" : "toned tone-key"}>
        {failed === 0
          ? `✓ ${counted(held, "expectation")}, all as expected.`
          : `✗ ${counted(failed, "step")} not as expected.`}
      </p>
      <p class="muted">Press R to start again, or ← for the last step.</p>
    </>
  );
}

const kinds = {
  held: ["✓", "tone-success", "as expected"],
  failed: ["✗", "tone-key", "unexpected"],
  done: ["·", "tone-other", "done"],
} as const;

function Outline({ progress: { outline, done: stepsRun } }: { readonly progress: Shown<"Story"> }) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = list.current?.querySelector<HTMLElement>("[aria-current]");
    // Only the list scrolls, not the page.
    if (list.current && current) list.current.scrollTop = current.offsetTop - list.current.clientHeight / 2;
  }, [stepsRun]);
  // What comes is not given away.
  const ran = outline.filter(({ done }) => done);
  if (ran.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling requires focus for keyboard users
    <nav class="story-outline" aria-label="Steps" ref={list} tabIndex={0}>
      <h2>Steps</h2>
      <ol>
        {ran.map(({ number, say, text, as_expected: verdict }) => {
          const [mark, tone, words] = kinds[verdict === null ? "done" : verdict ? "held" : "failed"];
          return (
            <li key={number} aria-current={number === stepsRun ? "step" : undefined}>
              <span class={`toned ${tone}`} aria-hidden="true">
                {mark}
              </span>
              <bdi>{say === null ? shortened(text ?? "", 90) : <em>{shortened(say, 60)}</em>}</bdi>
              <span class="visually-hidden"> ({words})</span>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useKeyboard((event) => {
    const { key, target, repeat } = event;
    const run = keys[key.length === 1 ? key.toLowerCase() : key];
    if (run === undefined) return;
    if (target instanceof Element && target.closest("input, textarea, select, dialog")) return;
    // Space presses the focused button, as everywhere.
    if (key === " " && target instanceof Element && target.closest("button, a, summary")) return;
    event.preventDefault();
    if (!repeat) void run();
  });
}

function NoStory() {
  useResources(health);
  return (
    <>
      <p>
        The scenario <bdi>{health.data.value?.scenario}</bdi> has no story. A story describes events, sends
        requests and checks their responses. You play it here; <code>svc-sandbox verify</code> runs it as a
        test.
      </p>
      <p>
        <DocsLink to="stories.md">Write one</DocsLink>, or{" "}
        <a href={linkTo("scenario")}>load a bundled scenario</a>, such as rotation.
      </p>
    </>
  );
}
