import type { ComponentChildren } from "preact";

/** A link to the documentation, which the control plane also serves. It opens in a new tab. */
export function DocsLink({ to, children }: { readonly to: string; readonly children: ComponentChildren }) {
  return (
    <a href={`./docs/${to}`} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

/** The section about a path. */
export const aboutPath = (pathId: string) => `errors.html#${pathId.replaceAll(".", "")}`;

/** The row about an advice id. */
export const aboutAdvice = (id: string) => `report.html#advice-${id}`;

/** The row about an error code of the control plane. */
export const aboutRefusal = (code: string) => `errors.html#refusal-${code}`;
