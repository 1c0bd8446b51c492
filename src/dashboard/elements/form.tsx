import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ControlError } from "../control/call.js";
import { Shared, useShared } from "../control/shared.js";
import { RejectionText, useActions } from "./action.js";

type Texts = Readonly<Record<string, string>>;

interface Entered {
  readonly texts: Texts;
  readonly problems: Texts;
}

const nothing: Entered = { texts: {}, problems: {} };

/** What somebody has entered, and its problems, by field. It outlives its view: only sending or canceling empties it. */
export class FormDraft extends Shared<Entered> {
  constructor() {
    super(nothing);
  }

  /** The text of a field; `undefined` if it is empty. */
  text(field: string): string | undefined {
    return this.value.texts[field]?.trim() || undefined;
  }

  enter(field: string, text: string): void {
    this.value = { ...this.value, texts: { ...this.value.texts, [field]: text } };
  }

  empty(): void {
    this.value = nothing;
  }
}

interface FormProps {
  readonly draft: FormDraft;
  readonly class: string;
  /** Gets the value of the button that was pressed. */
  readonly send: (button: string) => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** A form that is sent once at a time. Problems are shown below their fields, the first of which gets the focus. */
export function Form({ draft, class: layout, send, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { problem, isRunning, add } = useActions();
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [problem]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { value } = event.submitter as HTMLButtonElement;
    if (isRunning) return;
    add(async () => {
      try {
        await send(value);
      } catch (error) {
        draft.value = { ...draft.value, problems: (error as ControlError).fields };
        throw error;
      }
    });
  };
  return (
    <form class={layout} ref={form} aria-busy={isRunning} onSubmit={submit}>
      {children}
      {Object.keys(problem?.fields ?? {}).length === 0 && <RejectionText problem={problem} />}
    </form>
  );
}

/** A value, with other words if these differ. */
export type Option = string | readonly [value: string, words: string];

const pairOf = (option: Option) => (typeof option === "string" ? ([option, option] as const) : option);

/** The values of a list to choose from. */
export function Options({ of }: { readonly of: readonly Option[] }) {
  return (
    <>
      {of.map(pairOf).map(([name, words]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </>
  );
}

interface FieldProps {
  readonly draft: FormDraft;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  /** The values to choose from; any text without them. */
  readonly of?: readonly Option[];
}

/** A field of a form with its label, and its hint or problem below. */
export function Field({ draft, name, label, hint, placeholder, required, of }: FieldProps) {
  const { texts, problems } = useShared(draft);
  const id = `field-${name}`;
  const problem = problems[name];
  const value = texts[name] ?? (of ? pairOf(of[0] ?? "")[0] : "");
  const note = problem ?? hint;
  const change = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    draft.enter(name, currentTarget.value);
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
          <Options of={of} />
        </select>
      )}
      {note && (
        <p
          id={`${id}-note`}
          class={`small ${problem ? "rejection" : "muted"}`}
          role={problem ? "alert" : undefined}
        >
          {note}
        </p>
      )}
    </div>
  );
}
