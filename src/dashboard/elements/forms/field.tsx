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
function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint`, "aria-invalid": problem !== undefined })}
      <p id={`${id}-hint`} class={problem === undefined ? "muted hint" : "rejection"}>
        {problem ?? hint}
      </p>
    </div>
  );
}

interface TextFieldProps extends Labels {
  readonly name: string;
  readonly type?: "number";
  readonly inputMode?: "numeric" | "decimal";
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | "any";
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly defaultValue?: string;
  readonly onInput?: (event: { readonly currentTarget: HTMLInputElement }) => void;
}

/** A field for a line of text, or for the type in `type`. */
export function TextField({ label, hint, problem, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => <input autocomplete="off" spellcheck={false} {...attributes} {...input} />}
    </Field>
  );
}

/** A value, with other words if these differ. */
type Option = string | readonly [value: string, words: string];

function options(all: readonly Option[]) {
  return all.map((option) => {
    const [value, words] = typeof option === "string" ? [option, option] : option;
    return (
      <option key={value} value={value}>
        {words}
      </option>
    );
  });
}

interface ChoiceProps extends Labels {
  readonly name: string;
  /** The selected value. Default: the first one, until another is selected. */
  readonly value?: string;
  readonly onChange?: (event: { readonly currentTarget: HTMLSelectElement }) => void;
  readonly of: readonly Option[];
}

/** A field for one value of a list. */
export function Choice({ label, hint, problem, of, ...select }: ChoiceProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <select {...attributes} {...select}>
          {options(of)}
        </select>
      )}
    </Field>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly Option[];
  readonly onChange: (value: string) => void;
}

/** One value of a list, outside a form. It shows any value, also one that the list lacks. */
export function Select({ label, value, of, onChange }: SelectProps) {
  const isListed = of.some((option) => value === (typeof option === "string" ? option : option[0]));
  return (
    <label>
      {label}{" "}
      <select
        aria-label={label}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {options(isListed ? of : [...of, value])}
      </select>
    </label>
  );
}
