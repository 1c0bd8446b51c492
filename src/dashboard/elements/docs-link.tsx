import type { ComponentChildren } from "preact";

/** A link to the documentation, which the control plane also serves. It opens in a new tab. */
export function DocsLink({ to, children }: { readonly to: string; readonly children: ComponentChildren }) {
  return (
    <a href={`./docs/${to}`} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

// Its parts about a path, an advice id, and an error code of the control plane.
export const aboutPath = (pathId: string) => `errors.html#path-${pathId}`;
export const aboutAdvice = (id: string) => `report.html#advice-${id}`;
export const aboutRejection = (code: string) => `errors.html#rejection-${code}`;
