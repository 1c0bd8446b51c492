/** Words for people, of the members and values with a `_`. */
const accessWords: Readonly<Record<string, string>> = {
  sandbox_access: "sandbox access",
  live_access: "live access",
  not_approved: "not approved",
};

/** A member of an `organizationChange`, or its value, in words. */
export function accessInWords(name: string): string {
  return accessWords[name] ?? name;
}
