/** The variable in which clients find the key of a ref: `SVC_KEY_RATE_LIMITED`. */
export function variableOf(ref: string): string {
  return `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`;
}
