/** In characters. A longer text would slow the browser down. */
const maxShown = 20_000;

interface BodyTextProps {
  readonly text: string;
  /** In characters: where JSON wraps. */
  readonly width?: number;
}

/** The body of a request or response. JSON is formatted with short objects on one line; other text is unchanged. */
export function BodyText({ text, width = 64 }: BodyTextProps) {
  const shown = laidOut(text, width);
  const rest = shown.length - maxShown;
  return (
    <pre class="code">
      <bdi>{shown.slice(0, maxShown)}</bdi>
      {rest > 0 ? <span class="muted">{`\n… and ${rest.toLocaleString("en")} more characters`}</span> : null}
    </pre>
  );
}

function laidOut(text: string, width: number): string {
  try {
    return jsonText(JSON.parse(text), width);
  } catch {
    return text;
  }
}

function jsonText(value: unknown, width: number, indent = "", before = ""): string {
  const flat = before + flatJson(value);
  if (typeof value !== "object" || value === null || indent.length + flat.length < width) return flat;
  const isList = Array.isArray(value);
  const inner = `${indent}  `;
  const items = Object.entries(value).map(([name, one]) =>
    jsonText(one, width, inner, isList ? inner : `${inner}${JSON.stringify(name)}: `),
  );
  return `${before}${isList ? "[" : "{"}\n${items.join(",\n")}\n${indent}${isList ? "]" : "}"}`;
}

// On one line, with spaces for readers.
function flatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flatJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${flatJson(one)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
