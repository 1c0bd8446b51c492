import { type Signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { changeQuery, route } from "../route.js";

/** A value, with other words if these differ. */
export type Option = string | readonly [value: string, words: string];

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly Option[];
  readonly onChange: (value: string) => void;
}

/** One value of a list, with its label before it. */
export function Select({ label, value, of, onChange }: SelectProps) {
  return (
    <label class="labeled">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <Options of={of} value={value} />
      </select>
    </label>
  );
}

function Options({ of, value }: Pick<SelectProps, "of" | "value">) {
  const pairs = of.map((option) => (typeof option === "string" ? ([option, option] as const) : option));
  return (
    <>
      {pairs.map(([name, words]) => (
        <option key={name} value={name} selected={name === value}>
          {words}
        </option>
      ))}
    </>
  );
}

/** What somebody has entered, by field. It outlives its view: only sending or canceling empties it. */
export type FormDraft = Signal<Readonly<Record<string, string>>>;

interface FieldProps {
  readonly draft: FormDraft;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly problem?: string | undefined;
  readonly placeholder?: string;
  readonly required?: boolean;
  /** The values to choose from; any text without them. */
  readonly of?: readonly Option[];
}

/** A field of a form with its label, and its hint or problem below. */
export function Field({ draft, name, label, hint, problem, placeholder, required, of }: FieldProps) {
  const id = useId();
  const [first = ""] = of ?? [];
  const value = draft.value[name] ?? (typeof first === "string" ? first : first[0]);
  const note = problem ?? hint;
  const change = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
    draft.value = { ...draft.value, [name]: currentTarget.value };
  };
  const attributes = { id, value, required, placeholder, "aria-invalid": problem !== undefined };
  const described = note === undefined ? {} : { "aria-describedby": `${id}-note` };
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {of === undefined ? (
        <input autocomplete="off" spellcheck={false} onInput={change} {...attributes} {...described} />
      ) : (
        <select onChange={change} {...attributes} {...described}>
          <Options of={of} value={value} />
        </select>
      )}
      {note === undefined ? null : (
        <p
          id={`${id}-note`}
          class={problem === undefined ? "muted small" : "rejection small"}
          role={problem === undefined ? undefined : "alert"}
        >
          {note}
        </p>
      )}
    </div>
  );
}

const looksLikeSecret = /svc_(test|live)_\w/i;

/** The filter in the address, which must not contain a secret. */
export function filterInAddress(): string {
  const filter = route.value.query.get("filter") ?? "";
  return looksLikeSecret.test(filter) ? "" : filter;
}

/** The field of a list's filter. The address keeps it. */
export function FilterField({ placeholder }: Readonly<{ placeholder: string }>) {
  const isRejected = useSignal(false);
  const filter = ({ currentTarget: input }: Readonly<{ currentTarget: HTMLInputElement }>) => {
    isRejected.value = looksLikeSecret.test(input.value);
    if (isRejected.value) input.value = "";
    changeQuery({ filter: input.value, limit: undefined });
  };
  return (
    <search class="wide filter">
      <input
        type="search"
        aria-label="Filter"
        placeholder={placeholder}
        value={filterInAddress()}
        onInput={filter}
      />
      {isRejected.value ? (
        <p class="rejection small" role="status">
          This looks like a secret, which would become part of the address. Filter by a ref or fingerprint.
        </p>
      ) : null}
    </search>
  );
}
