import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Refusal, useAction } from "./action.js";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/** A dialog that keeps the focus until it is closed, by its button or Escape, which keeps a form that is filled in; shown for as long as it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // The title of the form that was filled in: what comes after it in the same dialog is another one.
  const filled = useRef("");
  const titleId = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // A form begins at its first field; Enter on "Close" would drop it.
    shown?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    // Gives the focus back to where it was, while the dialog is still in the page.
    return () => shown?.close();
  }, []);
  // Removed while it is still open: a hidden dialog would keep what it shows, such as a secret, in the page.
  const leave = (event: Event) => {
    event.preventDefault();
    if (filled.current === title) dialog.current?.querySelector<HTMLElement>("header button")?.focus();
    else onClose();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      // A second Escape would close it without `cancel`.
      onKeyDown={(event) => event.key === "Escape" && leave(event)}
      onCancel={leave}
      onInput={() => {
        filled.current = title;
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      {children}
    </dialog>
  );
}

export interface ConfirmProps extends DialogProps {
  /** The words of the button that does it. */
  readonly action: string;
  readonly run: () => Promise<unknown>;
  /** The words of a button that leaves all as it is, besides Close. */
  readonly instead?: string;
}

/** A question before something that cannot be undone; closed once that is done. */
export function Confirm({ title, action: words, run, instead, onClose, children }: ConfirmProps) {
  const action = useAction(() => run().then(onClose));
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Refusal problem={action.problem} />
      <footer class="buttons">
        <button type="button" class="danger" aria-busy={action.isRunning} onClick={action.run}>
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
