import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./action.js";

/** A button that copies a text. If the browser forbids that, as over plain HTTP from another machine, it shows the text to copy manually. */
export function CopyButton(props: {
  /** The text, or a function that asks the sandbox for it. */
  readonly text: string | (() => Promise<string>);
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  const { text, class: name, children } = props;
  const [isCopied, setCopied] = useState(false);
  /** The text to copy by keyboard. */
  const [manual, setManual] = useState<string>();

  const isKnown = typeof text === "string";
  const copy = async () => {
    const copied = isKnown ? text : await text();
    try {
      await navigator.clipboard.writeText(copied);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      setManual(copied);
    }
  };
  return (
    <span class="copy">
      <Button class={name} worksOffline={isKnown} run={copy}>
        {isCopied ? "Copied" : children}
      </Button>
      {manual && <ManualCopy text={manual} onClose={() => setManual(undefined)} />}
    </span>
  );
}

/** A selected text to copy by keyboard. It leaves once it is copied, by Escape, and when it loses the focus. */
function ManualCopy({ text, onClose }: { readonly text: string; readonly onClose: () => void }) {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current?.select(), []);
  const leave = () => {
    // What somebody presses must not move away from under the pointer, or the click is lost.
    if (document.querySelector(":active") === null) onClose();
    else addEventListener("pointerup", () => setTimeout(onClose), { once: true });
  };
  const leaveByKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onClose();
  };
  return (
    <label class="small">
      Press Ctrl+C
      {/* The browser reads the text after the event. */}
      <textarea readOnly ref={area} onBlur={leave} onKeyDown={leaveByKey} onCopy={() => setTimeout(onClose)}>
        {text}
      </textarea>
    </label>
  );
}

/** Saves content as a browser download. The file name keeps only characters that every system accepts. */
export function saveFile(content: Blob, name: string, extension: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  const safeName = name.replace(/[^\w.-]+/g, "-").slice(0, 100);
  link.href = url;
  link.download = `${safeName}.${extension}`;
  link.click();
  URL.revokeObjectURL(url);
}
