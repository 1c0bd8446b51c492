import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./action.js";

interface CopyProps {
  readonly text: string | (() => Promise<string>);
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A button that copies a text. If the browser forbids that, as over plain HTTP from another machine, it shows the text to copy manually. */
export function CopyButton({ text, class: name = "quiet", children }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  const [manual, setManual] = useState<string>();
  const copy = async () => {
    const copied = typeof text === "string" ? text : await text();
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
      <Button class={name} isLocal={typeof text === "string"} run={copy}>
        {isCopied ? "Copied" : children}
      </Button>
      {manual && (
        <textarea
          readOnly
          rows={3}
          aria-label="Copy this text"
          onFocus={(event) => event.currentTarget.select()}
        >
          {manual}
        </textarea>
      )}
    </span>
  );
}

/** Saves content as a browser download. The file name keeps only characters that every system accepts. */
export function saveFile(content: Blob, name: string, extension: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replace(/[^\w.-]+/g, "-").slice(0, 100)}.${extension}`;
  link.click();
  URL.revokeObjectURL(url);
}
