import { type ComponentChildren, type ComponentProps, createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { useData } from "../control/data.js";
import { withoutSecret } from "../control/route.js";
import { RejectionText, useActions, useOffline } from "./action.js";

/** A value to choose, with other words for it if these differ. */
export type Option = string | readonly [value: string, words: string];

/** The forms of a time, as the sandbox reads them. */
export const timeForms = "Enter a duration, such as 90s, 2h or 30d, or a time, such as 2026-12-31T00:00:00Z";

/** The problems of the fields of a form, by field name. The form provides them, and each field reads its own. */
const FieldProblems = createContext<Readonly<Record<string, string>>>({});

export const useFieldProblem = (field: string) => useContext(FieldProblems)[field];

/** The text of a field; `undefined` if it is empty. */
export function textIn(entered: FormData, field: string): string | undefined {
  return String(entered.get(field) ?? "").trim() || undefined;
}

/** A form that is sent once at a time. Problems are shown below their fields, the first of which gets the focus; below the form if one has no field. */
export function Form(props: {
  readonly class: string;
  /** Gets what was entered, with the value of the button that was pressed. */
  readonly send: (entered: FormData, form: HTMLFormElement) => Promise<unknown>;
  readonly children: ComponentChildren;
}) {
  const { problem, isRunning, enqueue } = useActions();
  const isOffline = useOffline();
  const form = useRef<HTMLFormElement>(null);

  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [problem]);

  const problems = problem?.fields ?? {};
  const names = Object.keys(problems);
  const hasField = (name: string) => form.current?.elements.namedItem(name);
  const isShownAtFields = names.length > 0 && names.every(hasField);

  const submit = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const submitted = event.currentTarget;
    const entered = new FormData(submitted, event.submitter);
    if (!isRunning && !isOffline) enqueue(() => props.send(entered, submitted));
  };
  return (
    <form class={props.class} ref={form} aria-busy={isRunning} onSubmit={submit}>
      <FieldProblems.Provider value={problems}>{props.children}</FieldProblems.Provider>
      {!isShownAtFields && <RejectionText problem={problem} />}
    </form>
  );
}

/** A button that sends its form. */
export function Submit(props: ComponentProps<"button">) {
  return <button type="submit" aria-disabled={useOffline()} {...props} />;
}

/** The values of a list to choose from. */
export function Options({ options }: { readonly options: readonly Option[] }) {
  const elements = options.map((option) => {
    const [value, words] = typeof option === "string" ? [option, option] : option;
    return (
      <option key={value} value={value}>
        {words}
      </option>
    );
  });
  return <>{elements}</>;
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  /** The values to choose from. Default: a field for any text. */
  readonly options?: readonly Option[];
  /** The id of a list of suggestions. */
  readonly list?: string;
}

/** A field of a form with its label, and its hint or problem below. */
export function Field({ label, hint, options, ...rest }: FieldProps) {
  const id = `field-${rest.name}`;
  const problem = useFieldProblem(rest.name);
  const note = problem ?? hint;
  const noteTone = problem ? "rejection" : "muted";
  const attributes = {
    ...rest,
    id,
    "aria-invalid": problem !== undefined,
    "aria-describedby": note && `${id}-note`,
  };
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {options === undefined ? (
        <input type="text" autocomplete="off" spellcheck={false} dir="auto" {...attributes} />
      ) : (
        <select {...attributes}>
          <Options options={options} />
        </select>
      )}
      {note && (
        <p id={`${id}-note`} class={`small ${noteTone}`} role={problem ? "alert" : undefined}>
          {note}
        </p>
      )}
    </div>
  );
}

/** A field for a ref. It suggests only refs with the words that are entered: a sandbox may have 100,000. */
export function RefField(props: FieldProps & { readonly name: "key" | "organization" }) {
  const [entered, setEntered] = useState("");
  const query = new URLSearchParams({ filter: withoutSecret(entered), limit: "20" });
  const { sections = [] } = useData(`/directory?${query}`).data ?? {};

  const refs = [];
  for (const { organization, keys } of sections) {
    const named = props.name === "key" ? keys : [organization];
    refs.push(...named.map(({ ref }) => ref));
  }
  return (
    <div onInput={({ target }) => setEntered((target as HTMLInputElement).value)}>
      <Field {...props} list="refs" />
      <datalist id="refs">
        <Options options={refs} />
      </datalist>
    </div>
  );
}
