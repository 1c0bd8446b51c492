import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { type Action, Refusal, useAction } from "./action.js";

type Send = (fields: FormData, form: HTMLFormElement) => Promise<unknown>;

/** The action of a form, and the reference for its element. */
export function useForm(send: Send): Action & { readonly form: RefObject<HTMLFormElement | null> } {
  const form = useRef<HTMLFormElement>(null);
  const action = useAction(async () => {
    const element = form.current as HTMLFormElement;
    await send(new FormData(element), element);
  });
  return { ...action, form };
}

interface ActionFormProps {
  /** The label of its button. */
  readonly action: string;
  readonly send: Send;
  /** The fields. Each problem has the name of its field. */
  readonly children: (problems: Readonly<Record<string, string>>) => ComponentChildren;
}

/** A form that sends its fields to the control plane, with a button and a possible rejection below them. */
export function ActionForm({ action: label, send, children }: ActionFormProps) {
  const { form, submit, isRunning, problem } = useForm(send);
  return (
    <form class="action-form" ref={form} onSubmit={submit}>
      {children(problem?.fields ?? {})}
      <button type="submit" aria-busy={isRunning}>
        {label}
      </button>
      <Refusal problem={problem} />
    </form>
  );
}

/** The text of a field without spaces around it; `undefined` for an empty field. */
export function textIn(fields: FormData, name: string): string | undefined {
  return String(fields.get(name) ?? "").trim() || undefined;
}

/** The number in a field. Any other text is sent unchanged, so that the control plane can report it. */
export function numberIn(fields: FormData, name: string): number | string | undefined {
  const text = textIn(fields, name);
  return text === undefined || Number.isNaN(Number(text)) ? text : Number(text);
}
