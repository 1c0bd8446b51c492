const focusable = ":is(a[href], button, input, select, textarea, summary):not(:disabled, [hidden])";

/** The places of the focused element, from its parent to the page: each with the element's index among what can be focused there. */
let places: readonly (readonly [place: Element, index: number])[] = [];
let focused: Element | undefined;

const controlsIn = (place: Element) =>
  [...place.querySelectorAll<HTMLElement>(focusable)].filter((element) => element.checkVisibility());

function note({ target }: FocusEvent): void {
  focused = target as Element;
  const around = [];
  for (let place = focused.parentElement; place !== null; place = place.parentElement)
    around.push([place, controlsIn(place).indexOf(focused as HTMLElement)] as const);
  places = around;
}

/** Somebody who has left an element stays where they are. */
function forget({ target }: FocusEvent): void {
  queueMicrotask(() => {
    if (target === focused && focused?.isConnected && document.hasFocus()) focused = undefined;
  });
}

function restore(): void {
  if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return;
  for (const [place, index] of places) {
    const controls = place.isConnected ? controlsIn(place) : [];
    const next = controls[Math.min(index, controls.length - 1)];
    if (next === undefined) continue;
    next.focus({ preventScroll: true });
    return;
  }
}

/** Whenever the focused element leaves the page, gives the focus to what is now at its place. */
export function keepFocus(): void {
  addEventListener("focusin", note);
  addEventListener("focusout", forget);
  new MutationObserver(restore).observe(document.body, { childList: true, subtree: true });
}
