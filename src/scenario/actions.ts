import { isMapping } from "../schema/type-tag.js";

/** An operation as the action of a step: the fields of its input that have refs. */
interface ActionRow {
  /** What it does to its key, after "can be": `revoked`. */
  readonly participle?: string;
  /** The field with the ref of a key, which must exist. */
  readonly keyField?: string;
  /** The field with the ref of an organization, which must exist. */
  readonly organizationField?: string;
  /** The field with the ref for a key that it creates. */
  readonly newKeyField?: string;
}

/** The actions of timelines and stories: by an administrator, the network or the service. */
export const actions = {
  create_key: {
    organizationField: "organization",
    newKeyField: "ref",
  },
  rotate: {
    keyField: "key",
    newKeyField: "as",
    participle: "rotated",
  },
  revoke: {
    keyField: "key",
    participle: "revoked",
  },
  expire: {
    keyField: "key",
    participle: "given an end",
  },
  organization: {
    organizationField: "ref",
  },
  faults: {},
} as const satisfies Readonly<Record<string, ActionRow>>;

export type ActionName = keyof typeof actions;
export const actionNames = Object.keys(actions) as ActionName[];

/** The row of an action, with the members that other actions have. */
export const actionRow = (name: ActionName): ActionRow => actions[name];

/** The action of a step; `undefined` for a step that is none. */
export function actionName(step: Partial<Record<ActionName, unknown>>): ActionName | undefined {
  return actionNames.find((name) => step[name] !== undefined);
}

/**
 * The refs in the input of an action: of its key, its organization, and the key that it creates. Each is `undefined` if the action
 * has no such field, or its input leaves it out.
 */
export function actionRefs(action: Partial<Record<ActionName, unknown>>) {
  const name = actionName(action);
  const input = name === undefined ? undefined : action[name];
  const refIn = (field: string | undefined): string | undefined => {
    const ref = field !== undefined && isMapping(input) ? input[field] : undefined;
    return typeof ref === "string" ? ref : undefined;
  };

  const { keyField, organizationField, newKeyField }: ActionRow = name === undefined ? {} : actions[name];
  return { key: refIn(keyField), organization: refIn(organizationField), newKey: refIn(newKeyField) };
}

/** What a step of a story can be. */
export const stepKinds = ["say", "request", "advance", ...actionNames] as const;
export type StepKind = (typeof stepKinds)[number];

/** What a step is: the one of these that it has, as its shape requires. */
export function stepKind(step: Partial<Record<StepKind, unknown>>): StepKind {
  return stepKinds.find((kind) => step[kind] !== undefined) ?? "say";
}
