import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Labels {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The problem of this field, from the form's rejection. */
  readonly problem?: string | undefined;
}

interface FieldProps extends Labels {
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

interface TextFieldProps extends Labels {
  readonly name: string;
  readonly type?: "number" | "search";
  readonly inputMode?: "numeric" | "decimal";
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | "any";
  readonly required?: boolean;
  readonly list?: string;
  readonly placeholder?: string;
  readonly defaultValue?: string;
}

/** A field for a line of text, or for the type in `type`. */
export function TextField({ label, hint, problem, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => <input autocomplete="off" spellcheck={false} {...attributes} {...input} />}
    </Field>
  );
}

interface ChoiceProps extends Labels {
  readonly name: string;
  /** The selected value. Default: the first one, until another is selected. */
  readonly value?: string;
  readonly onChange?: (event: { readonly currentTarget: HTMLSelectElement }) => void;
  /** The values, with other words if these differ. */
  readonly options: readonly (string | readonly [value: string, words: string])[];
}

/** A field for one value of a list. */
export function Choice({ label, hint, problem, options, ...select }: ChoiceProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <select {...attributes} {...select}>
          {options.map((option) => {
            const [value, words] = typeof option === "string" ? [option, option] : option;
            return (
              <option key={value} value={value}>
                {words}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}
