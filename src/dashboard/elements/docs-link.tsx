import type { ComponentChildren } from "preact";

/** A link into the documentation, which the control plane serves beside this page; it opens a tab of its own. */
export function DocsLink({ to, children }: { readonly to: string; readonly children: ComponentChildren }) {
  return (
    <a href={`./docs/${to}`} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

/** The section about a path. */
export const aboutPath = (pathId: string) => `errors.html#${pathId.replaceAll(".", "")}`;

/** The row about an advice. */
export const aboutAdvice = (id: string) => `advice.html#advice-${id}`;

/** The row about a refusal of the control plane. */
export const aboutRefusal = (code: string) => `error-codes.html#refusal-${code}`;
