const focusable = ":is(a[href], button, input, select, textarea, summary):not(:disabled, [hidden])";

/** An element around the focused one. */
interface Ancestor {
  readonly element: Element;
  /** The index of the focused one among those in the element that could have the focus. */
  readonly focusedIndex: number;
  /** Those after it. */
  readonly following: readonly HTMLElement[];
}

/** The element that has the focus, or had it when it left the page. */
let focused: HTMLElement | undefined;

/** From the parent of the focused element to the page. */
let ancestors: Ancestor[] = [];

/** Whenever the focused element leaves the page, gives the focus to what is now at its place. */
export function keepFocus(): void {
  addEventListener("focusin", noteFocus);
  addEventListener("focusout", forgetFocus);
  new MutationObserver(restoreFocus).observe(document.body, { childList: true, subtree: true });
}

// Noted in advance: once the element has left the page, nobody knows where it was.
function noteFocus(event: FocusEvent): void {
  focused = event.target as HTMLElement;
  ancestors = [];
  for (let element = focused.parentElement; element !== null; element = element.parentElement) {
    const candidates = focusableIn(element);
    const focusedIndex = candidates.indexOf(focused);
    ancestors.push({ element, focusedIndex, following: candidates.slice(focusedIndex + 1) });
  }
}

/**
 * Forgets an element that somebody has left by key or mouse: the focus is not lost, even if the element leaves the page later.
 *
 * The browser reports `focusout` for each end of the focus, before the page shows which end it is: another element has the focus
 * (`focusin` has noted it), the element has left the page (`restoreFocus` needs it), or the window has lost the focus (which comes
 * back with the window). So this looks a moment later.
 */
function forgetFocus({ target }: FocusEvent): void {
  queueMicrotask(() => {
    const isStillNoted = focused === target;
    const isInPage = focused?.isConnected === true;
    const hasWindowFocus = document.hasFocus();
    if (isStillNoted && isInPage && hasWindowFocus) focused = undefined;
  });
}

function restoreFocus(): void {
  const hasLeftPage = focused?.isConnected === false;
  const isFree = document.activeElement === document.body;
  if (!hasLeftPage || !isFree) return;

  // The innermost ancestor that is left, and has something to focus.
  for (const { element, focusedIndex, following } of ancestors) {
    if (!element.isConnected) continue;
    const candidates = focusableIn(element);
    // Others may have left the page with it: the next one that is still there is at its place.
    const left = following.find((control) => candidates.includes(control));
    const next = left ?? candidates[Math.min(focusedIndex, candidates.length - 1)];
    if (next === undefined) continue;
    next.focus({ preventScroll: true });
    return;
  }
}

function focusableIn(element: Element): HTMLElement[] {
  const controls = [...element.querySelectorAll<HTMLElement>(focusable)];
  return controls.filter((control) => control.checkVisibility());
}
