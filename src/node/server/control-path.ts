/** Where the control plane lives; everything else belongs to the API. */
export const controlPath = "/__sandbox";

/** Whether a path belongs to the control plane. */
export function isControlPath(path: string): boolean {
  return (
    path.startsWith(controlPath) && (path.length === controlPath.length || path[controlPath.length] === "/")
  );
}
