/** The text of a file. Bytes that are not UTF-8 become a character that no text has, which is a problem with its place. */
export function textOfFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes).replaceAll("\uFFFD", "\u0000");
  }
}

export const externalReference = /["']?\$ref["']?\s*:\s*["']?([^"'\s#,]*[^"'\s#,}])/;

/** The member of a joined document that has its other files by name. */
export const filesMember = "x-sandbox-files";

/** The file that a reference leads to, relative to the document's folder; `undefined` for a place elsewhere. */
export function fileReferredTo(reference: string, from: string): string | undefined {
  const [file = ""] = reference.split("#", 1);
  if (file === "" || /^[a-z][a-z0-9+.-]*:|^\/|\\/i.test(file)) return undefined;
  const steps = from.split("/").slice(0, -1);
  for (const step of decoded(file).split("/")) {
    if (step === "..") {
      if (steps.pop() === undefined) return undefined;
    } else if (step !== "." && step !== "") steps.push(step);
  }
  return steps.join("/");
}

/** A text without percent-encoding; unchanged if that is not valid. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
