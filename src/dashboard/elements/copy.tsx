import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "./action.js";

interface CopyProps {
  readonly text: string | (() => Promise<string>);
  readonly children: ComponentChildren;
}

/** A button that copies a text. If the browser forbids that, as over plain HTTP from another machine, it shows the text to copy manually. */
export function CopyButton({ text, children }: CopyProps) {
  const isCopied = useSignal(false);
  const manual = useSignal<string | undefined>(undefined);
  const copy = async () => {
    const copied = typeof text === "string" ? text : await text();
    isCopied.value = await isWritten(copied);
    manual.value = isCopied.value ? undefined : copied;
    setTimeout(() => {
      isCopied.value = false;
    }, 2000);
  };
  return (
    <span class="copy">
      <Button run={copy}>{isCopied.value ? "Copied" : children}</Button>
      {manual.value === undefined ? null : (
        <textarea
          readOnly
          rows={3}
          aria-label="Copy this text"
          onFocus={(event) => event.currentTarget.select()}
        >
          {manual.value}
        </textarea>
      )}
    </span>
  );
}

async function isWritten(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
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
