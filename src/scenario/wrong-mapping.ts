import type { FieldForm } from "./format-lookup.js";
import { quote } from "./quote.js";
import { isRef } from "./ref.js";
import type { Slip } from "./wrong-value.js";

/** A value that is longer than this is not read out. */
const longestShown = 60;

/** What is wrong with a value where a mapping should be, and the mapping that was probably meant. */
export function wrongMapping(name: string, value: unknown, form: FieldForm): Slip {
  const properties = form.properties ?? {};
  const fields = Object.keys(properties);
  const message = `${name} is a mapping, not ${typeof value === "string" ? "the text " : ""}${quote(value)}`;
  if (fields.length > 0) {
    const meant = fieldFor(value, properties) ?? `${fields[0]}: …`;
    const hint = `write ${name.endsWith("]") ? "" : `${name}: `}{ ${meant} }`;
    return { code: "wrong_type", message, hint };
  }
  if (name === "headers") {
    return { code: "wrong_type", message, hint: `write headers: { ${headersIn(value)} }` };
  }
  const hint = Array.isArray(value)
    ? "each entry needs a ref of its own instead of a dash: <ref>: { … }"
    : "write <ref>: { … } on the lines below";
  return { code: "wrong_type", message, hint };
}

// Who writes a plain value leaves out the name of the one field that matters: `revoke: main`, `then: 503`.
function fieldFor(value: unknown, properties: Readonly<Record<string, FieldForm>>): string | undefined {
  if (typeof value !== "string") {
    const status = properties.status;
    const isStatus =
      typeof value === "number" && (status?.type === "integer" || status?.enum?.includes(value));
    return isStatus ? `status: ${value}` : undefined;
  }
  if (value.length > longestShown) return undefined;
  for (const [field, { enum: choices, type }] of Object.entries(properties)) {
    if (choices?.includes(value)) return `${field}: ${value}`;
    if (type === "boolean" && field === value) return `${field}: true`;
  }
  const [, method, path] = /^(?:([A-Z]+) +)?(\/\S*)$/.exec(value) ?? [];
  if (path !== undefined && properties.path !== undefined && properties.method !== undefined)
    return `${method === undefined ? "" : `method: ${method}, `}path: ${path}`;
  if (!isRef(value)) return undefined;
  if (properties.key !== undefined) return `key: ${value}`;
  return properties.ref === undefined ? undefined : `ref: ${value}, …`;
}

function headersIn(value: unknown): string {
  const lines = (Array.isArray(value) ? value : [value]).map((one) => {
    if (typeof one === "string") return /^([\w-]+): *([^\r\n]*)$/.exec(one)?.slice(1, 3);
    const members = typeof one === "object" && one !== null ? Object.entries(one) : [];
    return members.length === 1 && typeof members[0]?.[1] === "string" ? members[0] : undefined;
  });
  const text = lines
    // The key is no header of a story's request.
    .filter((line) => line !== undefined && line[0]?.toLowerCase() !== "x-api-key")
    .slice(0, 3)
    .map((line) => `${line?.[0]}: ${written(String(line?.[1]))}`)
    .join(", ");
  return text === "" || text.length > 2 * longestShown ? "X-Trace: abc" : text;
}

/** The only member of a mapping that has one, as YAML writes it; `undefined` when it is no short text or number. */
export function onlyMember(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const [member, ...others] = Object.values(value);
  if (others.length > 0) return undefined;
  if (typeof member === "number") return `"${member}"`;
  return typeof member === "string" && member !== "" && member.length <= longestShown
    ? written(member)
    : undefined;
}

// Without quotes, YAML would read some words as something else than a text.
function written(text: string): string {
  if (/^(?:true|false|yes|no|on|off|null)$/i.test(text)) return JSON.stringify(text);
  return /^[A-Za-z][\w ./+-]*$|^\d+[a-z]+$/.test(text) ? text : JSON.stringify(text);
}
