import type { ComponentChildren } from "preact";

/** The documentation of this version on the repository's page; the build sets it. */
declare const docsAddress: string;

/** A link to the documentation. It opens in a new tab. */
export function DocsLink({ to, children }: { readonly to: string; readonly children: ComponentChildren }) {
  return (
    <a href={`${docsAddress}${to}`} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

// The parts about path ids, advice, and the error codes of the control plane.
export const aboutPaths = "errors.md#all-paths";
export const aboutAdvice = "report.md#advice";
export const aboutRejections = "errors.md#errors-of-the-sandbox";
