import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type ControlError, call } from "../control/call.js";
import { lastIssued } from "../control/issued.js";
import type { Shown } from "../control/responses.js";
import { RejectionText } from "./forms/action.js";

interface CopyButtonProps {
  /** The text, or how to get it. */
  readonly text: string | (() => Promise<string>);
  readonly onCopied?: () => void;
  readonly children?: ComponentChildren;
}

/** A button that copies a text. If the browser forbids that, as over plain HTTP from another machine, it shows the text to copy manually. */
export function CopyButton({ text, onCopied, children }: CopyButtonProps) {
  const isCopied = useSignal(false);
  const manual = useSignal<string | undefined>(undefined);
  const problem = useSignal<ControlError | undefined>(undefined);
  const copy = async () => {
    problem.value = undefined;
    try {
      const copied = typeof text === "string" ? text : await text();
      isCopied.value = await isWritten(copied);
      if (!isCopied.value) manual.value = copied;
    } catch (error) {
      problem.value = error as ControlError;
    }
    if (!isCopied.value) return;
    onCopied?.();
    setTimeout(() => {
      isCopied.value = false;
    }, 2000);
  };
  return (
    <span class="copy">
      <button type="button" class="quiet" onClick={copy}>
        {isCopied.value ? "Copied" : (children ?? "Copy")}
      </button>
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
      <RejectionText problem={problem.value} />
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

interface CopyCurlProps {
  /** The ref of the key that is sent, or `none`, `malformed` or `unknown`. */
  readonly keyRef: string;
  /** The line for a shell, given the secret of that key, which is empty for `none`. */
  readonly line: (secret: string) => string;
}

/** Copies a line for a shell, with the key in it: a new shell has no variables. */
export function CopyCurl({ keyRef, line }: CopyCurlProps) {
  return (
    <CopyButton text={async () => line(keyRef === "none" ? "" : await secretOf(keyRef))}>
      Copy as curl
    </CopyButton>
  );
}

async function secretOf(ref: string): Promise<string> {
  const issued = lastIssued.peek();
  if (issued?.key.ref === ref) return issued.secret;
  const path = `/keys/${encodeURIComponent(ref)}/secret`;
  return (await call<Shown<"Secret">>(path, { method: "POST" })).secret;
}
