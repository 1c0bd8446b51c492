import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The problem of this field, from the form's rejection. */
  readonly problem?: string | undefined;
  /** Renders the input with the attributes that connect it to its label, hint and problem. */
  readonly children: (attributes: {
    readonly id: string;
    readonly "aria-describedby": string;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** An input of a form with its label, and its hint or problem. */
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
