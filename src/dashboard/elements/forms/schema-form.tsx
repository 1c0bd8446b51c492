import { capitalized } from "../words.js";
import { Choice, type Option, TextField } from "./field.js";
import { textIn } from "./form.js";

/** The members of a JSON Schema that a form reads. */
export interface FieldSchema {
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

function schemaAt(schema: FieldSchema, place: string): FieldSchema {
  return place.split(".").reduce((inner: FieldSchema, name) => inner.properties?.[name] ?? {}, schema);
}

function isRequired(schema: FieldSchema, place: string): boolean {
  const [name = "", ...inner] = place.split(".");
  const own = schema.properties?.[name] ?? {};
  return schema.required?.includes(name) === true && (inner.length === 0 || isRequired(own, inner.join(".")));
}

interface SchemaFieldsProps {
  readonly body: Body;
  /** By place. A list in a body has several problems. */
  readonly problems: Readonly<Record<string, string>>;
  /** The values to choose from, by place, if the schema does not have them. */
  readonly choices?: Readonly<Record<string, readonly Option[]>>;
  readonly initial?: Readonly<Record<string, string>>;
}

/** The fields of a body, with the hints of its schema. */
export function SchemaFields({
  body: { schema, fields },
  problems,
  choices = {},
  initial = {},
}: SchemaFieldsProps) {
  return (
    <div class="form-fields">
      {fields.map((place) => {
        const own = schemaAt(schema, place);
        const name = place.split(".").at(-1) ?? "";
        const at = Object.keys(problems).find((one) => one === place || one.startsWith(`${place}.`));
        const required = isRequired(schema, place);
        const field = {
          name: place,
          label: capitalized(name.replaceAll("_", " ")),
          hint: own.description,
          problem: at === undefined ? undefined : problems[at],
        };
        const values = choices[place] ?? own.enum ?? (own.type === "boolean" ? ["true"] : undefined);
        if (values === undefined)
          return <TextField key={place} {...field} required={required} defaultValue={initial[place]} />;
        const none: readonly Option[] = required ? [] : [["", "default"]];
        return <Choice key={place} {...field} of={[...none, ...values]} initial={initial[place]} />;
      })}
    </div>
  );
}

/** The body in the fields of a form, without the empty ones. What is not a number stays text, which the server rejects. */
export function bodyIn({ schema, fields }: Body, form: FormData): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const place of fields) {
    const text = textIn(form, place);
    if (text === undefined) continue;
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
