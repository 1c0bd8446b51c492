import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

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
      <header class="bar apart">
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
