const focusable = ":is(a[href], button, input, select, textarea, summary):not(:disabled, [hidden])";

/** An element around the focused one. */
interface Surrounding {
  readonly element: Element;
  /** The index of the focused one among those in the element that could have the focus. */
  readonly focusedIndex: number;
}

/** The element that has the focus, or had it when it left the page. */
let focused: HTMLElement | undefined;

/** From the parent of the focused element to the page. */
let surroundings: Surrounding[] = [];

/** Whenever the focused element leaves the page, gives the focus to what is now at its place. */
export function keepFocus(): void {
  addEventListener("focusin", noteFocus);
  addEventListener("focusout", forgetFocus);
  new MutationObserver(restoreFocus).observe(document.body, { childList: true, subtree: true });
}

// Noted in advance: once the element has left the page, nobody knows where it was.
function noteFocus(event: FocusEvent): void {
  focused = event.target as HTMLElement;
  surroundings = [];
  for (let element = focused.parentElement; element !== null; element = element.parentElement) {
    surroundings.push({ element, focusedIndex: focusableIn(element).indexOf(focused) });
  }
}

/** Forgets an element that somebody has left by key or mouse: the focus is not lost, even if the element leaves later. */
function forgetFocus({ target }: FocusEvent): void {
  // The browser reports each end of the focus. A moment later, the page shows which end this is.
  queueMicrotask(() => {
    const isOnOtherElement = focused !== target;
    if (isOnOtherElement) return;
    // `restoreFocus` needs the element.
    const hasLeftPage = focused?.isConnected === false;
    if (hasLeftPage) return;
    // The focus comes back with the window.
    const isInOtherWindow = !document.hasFocus();
    if (isInOtherWindow) return;
    focused = undefined;
  });
}

function restoreFocus(): void {
  const hasLeftPage = focused?.isConnected === false;
  const isFree = document.activeElement === document.body;
  if (!hasLeftPage || !isFree) return;

  // The innermost surrounding that is left, and has something to focus.
  for (const { element, focusedIndex } of surroundings) {
    const candidates = element.isConnected ? focusableIn(element) : [];
    const next = candidates[Math.min(focusedIndex, candidates.length - 1)];
    if (next === undefined) continue;
    next.focus({ preventScroll: true });
    return;
  }
}

function focusableIn(element: Element): HTMLElement[] {
  const controls = [...element.querySelectorAll<HTMLElement>(focusable)];
  return controls.filter((control) => control.checkVisibility());
}
