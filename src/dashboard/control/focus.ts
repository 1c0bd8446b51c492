const focusable = ":is(a[href], button, input, select, textarea, summary):not(:disabled, [hidden])";

/** The element that has the focus, or had it when it left the page. */
let focused: HTMLElement | undefined;

/** From the parent of the focused element to the page, with its index among what can have the focus there. */
let ancestors: { readonly element: Element; readonly index: number }[] = [];

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
    ancestors.push({ element, index: focusableIn(element).indexOf(focused) });
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
  for (const { element, index } of ancestors) {
    if (!element.isConnected) continue;
    const candidates = focusableIn(element);
    const next = candidates[Math.min(index, candidates.length - 1)];
    if (next === undefined) continue;
    next.focus({ preventScroll: true });
    return;
  }
}

function focusableIn(element: Element): HTMLElement[] {
  const controls = [...element.querySelectorAll<HTMLElement>(focusable)];
  return controls.filter((control) => control.checkVisibility());
}
