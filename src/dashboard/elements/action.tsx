import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ControlError } from "../control/call.js";
import { whyOffline } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ControlData } from "../control/responses.js";
import { useShared } from "../control/shared.js";
import { DocsLink, Sentence } from "./words.js";

/** The codes of the page itself: there was no readable response or file. */
const ownCodes = ["unreachable", "unreadable"];

/** What a reset, another scenario or the start of a story discards. */
export const lossOfState =
  "This discards the requests, new keys, and every other change. The report keeps its coverage and advice.";

/** Whether the server has stopped responding: nothing can be changed then. */
export const useOffline = () => useShared(whyOffline) !== undefined;

/** A queue of actions, so that fast clicks and keys are not lost, with the rejection of the last one. */
export function useActions() {
  const [problem, setProblem] = useState<ControlError>();
  const [unfinished, setUnfinished] = useState(0);
  const last = useRef(Promise.resolve());

  /** Runs an action after those that were enqueued before. */
  const enqueue = (action: () => unknown) => {
    setUnfinished((count) => count + 1);
    const ended = last.current.then(action).then(() => setProblem(undefined), setProblem);
    last.current = ended.then(() => setUnfinished((count) => count - 1));
  };

  // Once the sandbox is back, nobody needs to know that it was not there.
  const isObsolete = !useOffline() && problem?.code === "unreachable";
  return { problem: isObsolete ? undefined : problem, isRunning: unfinished > 0, enqueue };
}

/** A rejection in words, with a link to its code; nothing without one. */
export function RejectionText({ problem }: Readonly<{ problem: ControlError | undefined }>) {
  if (problem === undefined) return null;
  const { code, message } = problem;
  // In place of a message about the body, of which a person knows nothing.
  const aboutFields = Object.values(problem.fields).join("\n");
  return (
    <p class="rejection" role="alert">
      <Sentence>{aboutFields || message}</Sentence>{" "}
      {!ownCodes.includes(code) && (
        <DocsLink to="errors#errors-of-the-sandbox">
          <code>{code}</code>
        </DocsLink>
      )}
    </p>
  );
}

/** Reads a path, and shows its last response, up to date, or why there is none. */
export function ShowData<Path extends keyof ControlData>(props: {
  readonly path: Path;
  readonly children: (response: ControlData[Path]) => ComponentChildren;
}) {
  const { path, children } = props;
  const { data, problem } = useData(path);
  const isOffline = useOffline();
  if (data === undefined && problem === undefined) {
    return <p class="muted">{isOffline ? "Not connected." : "Reading…"}</p>;
  }
  // Every view says that the sandbox does not respond: once is enough.
  const isToldElsewhere = data !== undefined && problem?.code === "unreachable";
  return (
    <>
      {!isToldElsewhere && <RejectionText problem={problem} />}
      {data !== undefined && children(data)}
    </>
  );
}

/** A dialog that keeps the focus until one of its buttons or Escape closes it. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}) {
  const { title, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const offline = useShared(whyOffline);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A form starts at its first field, a question at what changes nothing.
    element?.querySelector<HTMLElement>("input, select, .cancel")?.focus();
    // Returns the focus while the dialog is still in the page.
    return () => element?.close();
  }, []);
  // Escape does not hide the dialog: `onClose` removes it from the page, with any secret in it.
  const leave = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  const leaveByKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    // It closes only the dialog, and not what the dialog is about.
    event.stopPropagation();
    leave(event);
  };
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      // A second Escape would close the dialog without a `cancel` event.
      onKeyDown={leaveByKey}
      onCancel={leave}
    >
      <div class="stack">
        <h2>{title}</h2>
        {offline && (
          <p class="notice" role="status">
            {offline}
          </p>
        )}
        {children}
      </div>
    </dialog>
  );
}

/** What is asked before an action that cannot be undone. */
interface Question {
  readonly title: string;
  /** What is lost. */
  readonly text: ComponentChildren;
  /** The label of the button that runs it. */
  readonly action: string;
}

/** A dialog that asks before an action, runs it, and closes afterwards. */
export function QuestionDialog(
  props: Question & { readonly run: () => unknown; readonly onClose: () => void },
) {
  const { title, text, action, run, onClose } = props;
  const runAndClose = async () => {
    await run();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <footer class="bar">
        <Button class="danger" run={runAndClose}>
          {action}
        </Button>
        <Button worksOffline class="quiet cancel" run={onClose}>
          Cancel
        </Button>
      </footer>
    </Dialog>
  );
}

/** The focus of a button that leaves the page, as after "Turn off", goes to the part of the page around it. */
function leaveFocus(button: HTMLButtonElement | null): void {
  if (button === null || button !== document.activeElement) return;
  const part = button.closest<HTMLElement>("section, main");
  if (part === null) return;
  part.tabIndex = -1;
  part.focus({ preventScroll: true });
}

/** A button that runs once at a time, and shows a rejection below. A disabled one keeps the focus. */
export function Button(props: {
  readonly run: () => unknown;
  /** Asked before it runs. */
  readonly ask?: Question | undefined;
  /** Default: `quiet`. */
  readonly class?: string | undefined;
  readonly isDisabled?: boolean;
  readonly worksOffline?: boolean;
  readonly children: ComponentChildren;
}) {
  const { run, ask } = props;
  const { problem, isRunning, enqueue } = useActions();
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => () => leaveFocus(button.current), []);

  const isUnreachable = useOffline() && props.worksOffline !== true;
  const isDisabled = props.isDisabled === true || isUnreachable;
  const press = () => {
    if (isDisabled) return;
    if (ask !== undefined) setAsking(true);
    else if (!isRunning) enqueue(run);
  };
  return (
    <>
      <button
        type="button"
        class={props.class ?? "quiet"}
        aria-disabled={isDisabled}
        ref={button}
        onClick={press}
      >
        {props.children}
      </button>
      {ask !== undefined && isAsking && (
        <QuestionDialog {...ask} run={run} onClose={() => setAsking(false)} />
      )}
      <RejectionText problem={problem} />
    </>
  );
}
