import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./action.js";

/** A button that copies a text. If the browser forbids that, as over plain HTTP from another machine, the browser shows the text to copy by keyboard. */
export function CopyButton(props: {
  /** The text, or a function that asks the sandbox for it. */
  readonly text: string | (() => Promise<string>);
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  const { text, class: name, children } = props;
  const [isCopied, setCopied] = useState(false);

  const isKnown = typeof text === "string";
  const copy = async () => {
    const copied = isKnown ? text : await text();
    try {
      await navigator.clipboard.writeText(copied);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      prompt("Press Ctrl+C", copied);
    }
  };
  return (
    <span class="copy">
      <Button class={name} worksOffline={isKnown} run={copy}>
        {isCopied ? "Copied" : children}
      </Button>
    </span>
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
