import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** A button that copies a text. If the browser forbids that, as over plain HTTP from another machine, it shows the text to copy manually. */
export function CopyButton({
  text,
  onCopied,
  children,
}: {
  readonly text: string;
  readonly onCopied?: () => void;
  readonly children?: ComponentChildren;
}) {
  const state = useSignal<"ready" | "copied" | "manual">("ready");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = "copied";
      onCopied?.();
      setTimeout(() => {
        if (state.value === "copied") state.value = "ready";
      }, 2000);
    } catch {
      state.value = "manual";
    }
  };
  return (
    <span class="copy">
      <button type="button" class="quiet" onClick={copy}>
        {state.value === "copied" ? "Copied" : (children ?? "Copy")}
      </button>
      {state.value === "manual" ? (
        <textarea
          readOnly
          rows={3}
          aria-label="Copy this text"
          onFocus={(event) => event.currentTarget.select()}
        >
          {text}
        </textarea>
      ) : null}
    </span>
  );
}

export function CodeLine(props: { readonly code: string; readonly children?: ComponentChildren }) {
  return (
    <div class="code-line">
      <pre>{props.code}</pre>
      <CopyButton text={props.code}>{props.children}</CopyButton>
    </div>
  );
}
