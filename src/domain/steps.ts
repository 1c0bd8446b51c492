/** What a step of a timeline or a story can do to the world: in the dashboard, in a farmer's place, or to the network. */
export const actionNames = ["create_key", "rotate", "revoke", "organization", "consent", "faults"] as const;
export type ActionName = (typeof actionNames)[number];

/** What a step of a story can do. */
export const stepKinds = ["say", "request", "advance", ...actionNames] as const;
export type StepKind = (typeof stepKinds)[number];
