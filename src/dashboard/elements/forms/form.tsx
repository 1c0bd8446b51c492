import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ControlError } from "../../control/call.js";
import { isOffline } from "../../control/events.js";
import { RejectionText, useAction } from "./action.js";

// A form with an empty required field is not sent.
function checkRequired(form: HTMLFormElement): void {
  const empty = [...form.querySelectorAll<HTMLInputElement>("input[required]")].filter(
    ({ value }) => value.trim() === "",
  );
  if (empty.length === 0) return;
  const fields = empty.map(({ name, labels }) => {
    const label = labels?.[0]?.textContent?.toLowerCase() ?? name;
    return [name, `Enter ${/^[aeiou]/.test(label) ? "an" : "a"} ${label}.`];
  });
  throw new ControlError("validation_failed", "A required field is empty.", Object.fromEntries(fields));
}

interface FormRejectionProps {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly problem: ControlError | undefined;
}

/** The rejection of a form. The fields show their own problems, and the first one gets the focus. */
function FormRejection({ form, problem }: FormRejectionProps) {
  const marked = useSignal(0);
  useLayoutEffect(() => {
    const fields = form.current?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? [];
    marked.value = fields.length;
    fields[0]?.closest("details")?.setAttribute("open", "");
    fields[0]?.focus();
  }, [problem]);
  if (problem === undefined || marked.value === 0) return <RejectionText problem={problem} />;
  return (
    <p class="rejection" role="alert">
      Correct the {marked.value === 1 ? "marked field" : `${marked.value} marked fields`}.
    </p>
  );
}

interface ActionFormProps {
  /** The label of its button. */
  readonly action: string;
  readonly send: (fields: FormData, form: HTMLFormElement) => Promise<unknown>;
  /** The fields. Each problem has the name of its field. */
  readonly children: (problems: Readonly<Record<string, string>>) => ComponentChildren;
}

/** A form that sends its fields to the control plane, with a button and a possible rejection below them. */
export function ActionForm({ action: label, send, children }: ActionFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { run, isRunning, problem } = useAction(async () => {
    const element = form.current as HTMLFormElement;
    checkRequired(element);
    await send(new FormData(element), element);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void run();
  };
  return (
    <form class="stack" ref={form} noValidate onSubmit={submit}>
      {children(problem?.fields ?? {})}
      <div class="bar">
        <button type="submit" disabled={isOffline.value} aria-busy={isRunning}>
          {label}
        </button>
        <FormRejection form={form} problem={problem} />
      </div>
    </form>
  );
}

/** The text of a field without spaces around it; `undefined` for an empty field. */
export function textIn(fields: FormData, name: string): string | undefined {
  return String(fields.get(name) ?? "").trim() || undefined;
}
