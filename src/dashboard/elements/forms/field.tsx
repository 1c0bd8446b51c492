import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Labels {
  readonly label: string;
  readonly name: string;
  readonly hint?: ComponentChildren;
  /** The problem of this field, from the form's rejection. */
  readonly problem?: string | undefined;
}

interface FieldProps extends Labels {
  /** Renders the input with the attributes that connect it to its label, hint and problem. */
  readonly children: (attributes: {
    readonly id: string;
    readonly name: string;
    readonly "aria-describedby": string;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** An input of a form with its label, and its hint or problem. */
function Field({ label, name, hint, problem, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, name, "aria-describedby": `${id}-hint`, "aria-invalid": problem !== undefined })}
      <p id={`${id}-hint`} class={problem === undefined ? "muted hint" : "rejection"}>
        {problem ?? hint}
      </p>
    </div>
  );
}

interface TextFieldProps extends Labels {
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly defaultValue?: string | undefined;
}

/** A field for a line of text. */
export function TextField({ required, placeholder, defaultValue, ...labels }: TextFieldProps) {
  return (
    <Field {...labels}>
      {(attributes) => (
        <input
          autocomplete="off"
          spellcheck={false}
          required={required}
          placeholder={placeholder}
          defaultValue={defaultValue}
          {...attributes}
        />
      )}
    </Field>
  );
}

/** A value, with other words if these differ. */
export type Option = string | readonly [value: string, words: string];

function Options({
  of,
  selected,
}: {
  readonly of: readonly Option[];
  readonly selected?: string | undefined;
}) {
  return (
    <>
      {of.map((option) => {
        const [value, words] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={value} value={value} selected={value === selected}>
            {words}
          </option>
        );
      })}
    </>
  );
}

interface ChoiceProps extends Labels {
  readonly of: readonly Option[];
  /** The value that is selected at first. Default: the first one. */
  readonly initial?: string | undefined;
}

/** A field for one value of a list. */
export function Choice({ of, initial, ...labels }: ChoiceProps) {
  return (
    <Field {...labels}>
      {(attributes) => (
        <select {...attributes}>
          <Options of={of} selected={initial} />
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
        <Options of={isListed ? of : [...of, value]} selected={value} />
      </select>
    </label>
  );
}
