import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, callBare } from "../../control/call.js";
import { useResource } from "../../control/resource.js";
import type { Shown } from "../../control/responses.js";
import { isOffline } from "../../control/revision.js";
import { counted, listText } from "../words.js";
import { RejectionText, useAction } from "./action.js";
import { Dialog } from "./dialog.js";

/** What is asked before an action that cannot be undone. */
export interface Question {
  readonly title: string;
  /** The label of the button that runs it. */
  readonly action: string;
  readonly run: () => Promise<unknown>;
  /** What is lost, which the question lists: the requests, or the whole state of a sandbox. */
  readonly loses?: "requests" | "state";
  /** The control plane of that sandbox, as a path relative to this one. Default: this one. */
  readonly of?: string;
  readonly text?: ComponentChildren;
}

interface AskProps extends Question {
  readonly onClose: () => void;
}

/** A question before an action. It closes afterwards. */
export function Ask({ title, action: words, run, loses, of = "", text, onClose }: AskProps) {
  const action = useAction(() => run().then(onClose));
  return (
    <Dialog title={title} onClose={onClose}>
      {loses === undefined ? null : <Losses loses={loses} of={of} />}
      {text === undefined ? null : <p>{text}</p>}
      <RejectionText problem={action.problem} />
      <footer class="bar">
        <button
          type="button"
          class="danger"
          disabled={isOffline.value}
          aria-busy={action.isRunning}
          onClick={action.run}
        >
          {words}
        </button>
        <button type="button" class="quiet" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </Dialog>
  );
}

function Losses({ loses, of }: Required<Pick<Question, "loses" | "of">>) {
  const { data, problem } = useResource(`${of}/requests`, () => countsOf(of, loses));
  // If the sandbox does not respond, the action itself reports that.
  const counts = data.value ?? (problem.value && []);
  const others = loses === "requests" ? "the report" : changesWords(counts);
  return (
    <>
      <p>
        {counts === undefined
          ? "Reading the current state…"
          : `This discards ${listText([...counts, others])}.`}
      </p>
      {loses === "requests" || of !== "" ? null : (
        <p class="muted">The report stays: its coverage and advice also count the requests until now.</p>
      )}
    </>
  );
}

const changesWords = (counts: readonly string[] = []) =>
  counts.length === 0 ? "every change since the start" : "all other changes since the start";

async function countsOf(of: string, loses: Question["loses"]): Promise<readonly string[]> {
  const requests = await call<readonly Shown<"Request">[]>(`${of}/requests`);
  const { created } =
    loses === "requests" ? { created: 0 } : await callBare<Shown<"KeyPage">>(`${of}/keys?limit=1`);
  return [
    ...(requests.length === 0 ? [] : [counted(requests.length, "request")]),
    ...(created === 0 ? [] : [`${counted(created, "key")} created since the start`]),
  ];
}

interface AskButtonProps {
  readonly class?: string;
  /** The key on the keyboard that presses it. */
  readonly shortcut?: string;
  readonly question: Question;
  readonly children: ComponentChildren;
}

/** A button that asks before it does something. */
export function AskButton({ class: name = "danger", shortcut, question, children }: AskButtonProps) {
  const [isAsking, ask] = useState(false);
  return (
    <>
      <button type="button" class={name} aria-keyshortcuts={shortcut} onClick={() => ask(true)}>
        {children}
      </button>
      {isAsking ? <Ask {...question} onClose={() => ask(false)} /> : null}
    </>
  );
}
