import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The problem of this field, from the refusal of the form. */
  readonly problem?: string | undefined;
  /** Renders the input with the attributes that tie label, hint and problem to it. */
  readonly children: (attributes: {
    readonly id: string;
    readonly "aria-describedby": string;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** An input of a form with its label, its hint and what was wrong with it. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint`, "aria-invalid": problem !== undefined })}
      <p id={`${id}-hint`} class={problem === undefined ? "muted hint" : "refusal"}>
        {problem ?? hint}
      </p>
    </div>
  );
}
