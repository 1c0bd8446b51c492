import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useKeyboard } from "./keyboard.js";

interface DetailProps {
  readonly label: string;
  readonly title: ComponentChildren;
  readonly buttons?: ComponentChildren;
  /** The address without this part. */
  readonly back: string;
  /** Selects what gets the focus once it is closed by Escape; the first one that exists. */
  readonly returnTo: readonly string[];
  readonly children: ComponentChildren;
}

/** The open part of a list: beside it, or in its place on a narrow page. It gets the focus; Escape closes it. */
export function Detail({ label, title, buttons, back, returnTo, children }: DetailProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), [label]);
  useKeyboard(({ key, target }) => {
    if (key !== "Escape" || (target as Element).closest("select, dialog") !== null) return;
    const find = (selector: string) => document.querySelector<HTMLElement>(selector);
    // The list may be hidden until then.
    const focus = () => setTimeout(() => returnTo.map(find).find(Boolean)?.focus());
    addEventListener("hashchange", focus, { once: true });
    location.hash = back;
  });
  return (
    <section class="panel stack detail" aria-label={label} ref={panel} tabIndex={-1}>
      <header class="bar apart">
        <h2>{title}</h2>
        <span class="bar">
          {buttons}
          <a href={back}>Close</a>
        </span>
      </header>
      {children}
    </section>
  );
}
