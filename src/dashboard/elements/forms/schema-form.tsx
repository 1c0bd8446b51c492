import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { ControlError } from "../../control/call.js";
import { isOffline } from "../../control/revision.js";
import { capitalized } from "../words.js";
import { RejectionText, useAction } from "./action.js";
import { type Option, Options } from "./select.js";

/** The members of a JSON Schema that a form reads. */
interface FieldSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
}

/** The body that a form sends: its schema, and the places of its fields in it, such as `limits.per_minute`. */
export interface Body {
  readonly schema: FieldSchema;
  readonly fields: readonly string[];
}

interface SchemaFormProps {
  readonly body: Body;
  /** The label of its button. */
  readonly action: string;
  /** Sends the body to the control plane. */
  readonly send: (body: Record<string, unknown>, form: HTMLFormElement) => Promise<unknown>;
  /** The values to choose from, by place, if the schema does not have them. */
  readonly choices?: Readonly<Record<string, readonly Option[]>>;
}

/** A form with the fields of a body and the hints of its schema. A rejected field shows its problem and gets the focus. */
export function SchemaForm({ body, action: label, send, choices = {} }: SchemaFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { run, isRunning, problem } = useAction((from: HTMLFormElement) =>
    send(bodyIn(body, new FormData(from)), from),
  );
  const problems = problem?.fields ?? {};
  return (
    <form
      class="stack"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void run(event.currentTarget);
      }}
    >
      <div class="form-fields">
        {body.fields.map((place) => {
          // A list in a body has several problems.
          const at = Object.keys(problems).find((one) => one === place || one.startsWith(`${place}.`));
          return (
            <Field
              key={place}
              place={place}
              schema={body.schema}
              choices={choices[place]}
              problem={at && problems[at]}
            />
          );
        })}
      </div>
      <div class="bar">
        <button type="submit" disabled={isOffline.value} aria-busy={isRunning}>
          {label}
        </button>
        <FormRejection form={form} problem={problem} />
      </div>
    </form>
  );
}

interface FieldProps {
  readonly place: string;
  readonly schema: FieldSchema;
  readonly choices: readonly Option[] | undefined;
  readonly problem: string | undefined;
}

/** A field with its label, and its hint or problem. */
function Field({ place, schema, choices, problem }: FieldProps) {
  const id = useId();
  const own = schemaAt(schema, place);
  const required = isRequired(schema, place);
  const values = choices ?? own.enum ?? (own.type === "boolean" ? ["true"] : undefined);
  const attributes = {
    id,
    name: place,
    required,
    "aria-describedby": `${id}-hint`,
    "aria-invalid": problem !== undefined,
  };
  return (
    <div class="field">
      <label htmlFor={id}>{capitalized((place.split(".").at(-1) ?? "").replaceAll("_", " "))}</label>
      {values === undefined ? (
        <input autocomplete="off" spellcheck={false} {...attributes} />
      ) : (
        <select {...attributes}>
          <Options of={required ? values : [["", "default"], ...values]} />
        </select>
      )}
      <p id={`${id}-hint`} class={problem === undefined ? "muted hint" : "rejection"}>
        {problem ?? own.description}
      </p>
    </div>
  );
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
    fields[0]?.focus();
  }, [problem]);
  if (problem === undefined || marked.value === 0) return <RejectionText problem={problem} />;
  return (
    <p class="rejection" role="alert">
      Correct the {marked.value === 1 ? "marked field" : `${marked.value} marked fields`}.
    </p>
  );
}

function schemaAt(schema: FieldSchema, place: string): FieldSchema {
  return place.split(".").reduce((inner: FieldSchema, name) => inner.properties?.[name] ?? {}, schema);
}

function isRequired(schema: FieldSchema, place: string): boolean {
  const [name = "", ...inner] = place.split(".");
  const own = schema.properties?.[name] ?? {};
  return schema.required?.includes(name) === true && (inner.length === 0 || isRequired(own, inner.join(".")));
}

/** The body in the fields of a form, without the empty ones. What is not a number stays text, which the server rejects. */
function bodyIn({ schema, fields }: Body, form: FormData): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const place of fields) {
    const text = String(form.get(place) ?? "").trim();
    if (text === "") continue;
    const names = place.split(".");
    let inner = body;
    for (const name of names.slice(0, -1)) {
      inner[name] ??= {};
      inner = inner[name] as Record<string, unknown>;
    }
    inner[names.at(-1) ?? ""] = valueIn(schemaAt(schema, place), text);
  }
  return body;
}

function valueIn({ type, items = {} }: FieldSchema, text: string): unknown {
  if (type === "array") return text.split(/[\s,]+/).map((one) => valueIn(items, one));
  if (type === "boolean") return text === "true";
  if (text.startsWith("{")) return parsed(text);
  const isNumber = type === "integer" || type === "number";
  return isNumber && !Number.isNaN(Number(text)) ? Number(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
