/** An operation as the action of a step: who may run it, and the refs in its input. */
interface ActionRow {
  /** Whether only administrators may run it (R33). */
  readonly isForAdministrators?: true;
  /** What it does to its key: `an active key can be revoked`. */
  readonly done?: string;
  /** The fields with the refs of a key and an organization that must exist. */
  readonly key?: string;
  readonly organization?: string;
  /** The field with the ref of a key that it creates. */
  readonly newKey?: string;
}

/** The actions of timelines and stories: by an administrator, the network or the service. */
export const actions = {
  create_key: {
    isForAdministrators: true,
    organization: "organization",
    newKey: "ref",
  },
  rotate: {
    isForAdministrators: true,
    key: "key",
    newKey: "as",
    done: "rotated",
  },
  revoke: {
    isForAdministrators: true,
    key: "key",
    done: "revoked",
  },
  expire: {
    isForAdministrators: true,
    key: "key",
    done: "given an end",
  },
  organization: {
    isForAdministrators: true,
    organization: "ref",
  },
  faults: {},
  assumptions: {},
} as const satisfies Readonly<Record<string, ActionRow>>;

export type ActionName = keyof typeof actions;
export const actionNames = Object.keys(actions) as ActionName[];

export const actionRow = (name: ActionName): ActionRow => actions[name];

export function actionIn(step: Partial<Record<ActionName, unknown>>): ActionName | undefined {
  return actionNames.find((name) => step[name] !== undefined);
}

export function refsIn(action: Partial<Record<ActionName, unknown>>) {
  const name = actionIn(action);
  if (name === undefined) return {};
  const row = actionRow(name);
  const fields = action[name] as Readonly<Record<string, string | undefined>>;
  const refIn = (field: string | undefined) => (field === undefined ? undefined : fields[field]);
  return {
    name,
    key: refIn(row.key),
    organization: refIn(row.organization),
    newKey: refIn(row.newKey),
    createsKey: row.newKey !== undefined,
  };
}

export const stepKinds = ["say", "request", "advance", ...actionNames] as const;
export type StepKind = (typeof stepKinds)[number];

export function kindOf(step: Partial<Record<StepKind, unknown>>): StepKind {
  return stepKinds.find((kind) => step[kind] !== undefined) ?? "say";
}
