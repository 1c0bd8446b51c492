import { type Signal, useSignal } from "@preact/signals";
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useId, useRef } from "preact/hooks";
import { changeQuery, route } from "../route.js";
import { RejectionText, useActions } from "./action.js";

/** What somebody has entered, by field. It outlives its view: only sending or canceling empties it. */
export type Draft = Signal<Readonly<Record<string, string>>>;

interface FormState {
  readonly draft: Draft;
  /** By field. */
  readonly problems: Readonly<Record<string, string>>;
}

const FormContext = createContext<FormState | undefined>(undefined);

/** The form around a component. */
export const useForm = () => useContext(FormContext) as FormState;

interface FormProps {
  readonly draft: Draft;
  readonly class: string;
  /** Gets the value of the button that was pressed. */
  readonly send: (button: string) => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** A form that is sent once at a time. Problems are shown below their fields, the first of which gets the focus. */
export function Form({ draft, class: layout, send, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { problem, isRunning, add } = useActions();
  const problems = problem?.fields ?? {};
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [problem]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { value } = event.submitter as HTMLButtonElement;
    if (!isRunning) add(() => send(value));
  };
  return (
    <FormContext.Provider value={{ draft, problems }}>
      <form class={layout} ref={form} aria-busy={isRunning} onSubmit={submit}>
        {children}
        {Object.keys(problems).length === 0 ? <RejectionText problem={problem} /> : null}
      </form>
    </FormContext.Provider>
  );
}

/** A value, with other words if these differ. */
export type Option = string | readonly [value: string, words: string];

const pairOf = (option: Option) => (typeof option === "string" ? ([option, option] as const) : option);

/** The values of a list to choose from. */
export function Options({ of, value }: { readonly of: readonly Option[]; readonly value: string }) {
  return (
    <>
      {of.map(pairOf).map(([name, words]) => (
        <option key={name} value={name} selected={name === value}>
          {words}
        </option>
      ))}
    </>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  /** The values to choose from; any text without them. */
  readonly of?: readonly Option[];
}

/** A field of a form with its label, and its hint or problem below. */
export function Field({ name, label, hint, placeholder, required, of }: FieldProps) {
  const id = useId();
  const { draft, problems } = useForm();
  const problem = problems[name];
  const value = draft.value[name] ?? (of ? pairOf(of[0] ?? "")[0] : "");
  const note = problem ?? hint;
  const change = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
    draft.value = { ...draft.value, [name]: currentTarget.value };
  };
  const attributes = {
    id,
    value,
    required,
    "aria-invalid": problem !== undefined,
    "aria-describedby": note && `${id}-note`,
  };
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {of === undefined ? (
        <input
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          onInput={change}
          {...attributes}
        />
      ) : (
        <select onChange={change} {...attributes}>
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
