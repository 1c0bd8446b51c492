const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** A text as XML has it between tags. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"]/g, (found) => entities[found] as string);
}

/** A text as the value of an attribute, with its quotation marks. */
export function xmlAttribute(text: string): string {
  return `"${xmlText(text)}"`;
}
