// The files of a document, by their path from its folder.

/** The files that the references of a text name: `schemas/pet.yaml`. */
export function fileReferences(text: string): Set<string> {
  const names = text.matchAll(/["']?\$ref["']?\s*:\s*(?:"([^"#]+)|'([^'#]+)|([^\s"'#,]+))/g);
  return new Set(
    Array.from(names, ([, one, two, plain = ""]) => one ?? two ?? plain.replace(/(?<=\.\w+)\}+$/, "")),
  );
}

/** The path of a file that another one names; it never leaves the folder. */
export function besides(from: string, name: string): string {
  const steps = from.split("/").slice(0, -1);
  for (const step of name.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "." && step !== "") steps.push(step);
  }
  return steps.join("/");
}
