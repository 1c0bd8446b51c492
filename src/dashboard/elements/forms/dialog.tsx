import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isOffline } from "../../control/events.js";
import { RejectionText, useAction } from "./action.js";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/** A dialog that keeps the focus until it is closed by its button or Escape. Escape does not close a filled-in form. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // The title of the filled-in form. The same dialog may show something else afterwards.
  const filled = useRef("");
  const [isKept, keep] = useState(false);
  const titleId = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // A form starts at its first field; Enter on "Close" would discard it.
    shown?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    // Returns the focus while the dialog is still in the page.
    return () => shown?.close();
  }, []);
  // Removed while it is still open. A hidden dialog would keep its content, such as a secret, in the page.
  const leave = (event: Event) => {
    event.preventDefault();
    if (filled.current !== title) return onClose();
    keep(true);
    dialog.current?.querySelector<HTMLElement>("header button")?.focus();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      // A second Escape would close the dialog without a `cancel` event.
      onKeyDown={(event) => event.key === "Escape" && leave(event)}
      onCancel={leave}
      onInput={() => {
        filled.current = title;
        keep(false);
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      {isKept ? <p role="status">Escape keeps what you entered. “Close” discards it.</p> : null}
      {children}
    </dialog>
  );
}

interface AskButtonProps {
  readonly class?: string | undefined;
  /** The key on the keyboard that presses it. */
  readonly shortcut?: string | undefined;
  readonly children: ComponentChildren;
  /** The dialog that it opens, given how to close it. */
  readonly question: (onClose: () => void) => ComponentChildren;
}

/** A button that opens a question. */
export function AskButton({ class: name, shortcut, children, question }: AskButtonProps) {
  const [isAsking, ask] = useState(false);
  return (
    <>
      <button type="button" class={name} aria-keyshortcuts={shortcut} onClick={() => ask(true)}>
        {children}
      </button>
      {isAsking ? question(() => ask(false)) : null}
    </>
  );
}

export interface ConfirmProps extends DialogProps {
  /** The label of the button that runs it. */
  readonly action: string;
  /** The class of that button. Default: of a loss. */
  readonly class?: string;
  readonly run: () => Promise<unknown>;
  /** The label of a button that changes nothing, in addition to Close. */
  readonly instead?: string;
}

/** A question before an action that cannot be undone. It closes afterwards. */
export function Confirm(props: ConfirmProps) {
  const { title, action: words, class: name = "danger", run, instead, onClose, children } = props;
  const action = useAction(() => run().then(onClose));
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <RejectionText problem={action.problem} />
      <footer class="bar">
        <button
          type="button"
          class={name}
          disabled={isOffline.value}
          aria-busy={action.isRunning}
          onClick={action.run}
        >
          {words}
        </button>
        {instead === undefined ? null : (
          <button type="button" class="quiet" onClick={onClose}>
            {instead}
          </button>
        )}
      </footer>
    </Dialog>
  );
}
