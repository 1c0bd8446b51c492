import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { whyOffline } from "../control/call.js";
import { useShared } from "../control/shared.js";

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
