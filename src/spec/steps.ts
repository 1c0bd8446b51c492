/** The actions of timelines and stories: by an administrator, a farmer, the network or the service. */
export const actionNames = [
  "create_key",
  "rotate",
  "revoke",
  "organization",
  "consent",
  "attestation",
  "faults",
  "assumptions",
] as const;
export type ActionName = (typeof actionNames)[number];

export const stepKinds = ["say", "request", "advance", ...actionNames] as const;
export type StepKind = (typeof stepKinds)[number];
