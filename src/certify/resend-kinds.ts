import { type AdviceId, adviceTable } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import { type ApiOutcomeId, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import type { Resend } from "../runs/conditions.js";

type Place = "first" | "second" | "middle" | "last";

/** One kind of rejection, after which a client must not send the key again, or not at once. */
export interface ResendKind extends Pick<Resend, "as" | "seconds" | "asDate"> {
  /** Its name in `--only`. */
  readonly name: string;
  readonly after: string;
  readonly whatToDo: string;
  /** When no other request must follow: never, before its time, or without a pause while each one is rejected. */
  readonly when: "always" | "too_soon" | "hasty";
  /** The requests to reject, each in a run of its own: `least` of them, and the others until a test uses one. */
  readonly places: readonly Place[];
  readonly least: number;
}

const seconds = 4;

const whatToDoOn = (advice: AdviceId) =>
  (adviceTable.find(({ id }) => id === advice) as { readonly whatToDo: string }).whatToDo;

/** The kinds of rejections for a client that covers these outcomes. */
export function resendKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const outcomeWith = (status: number, usual: ApiOutcomeId) =>
    (covered.find((outcome) => outcomeOf(outcome).status === status) ?? usual) as ApiOutcomeId;
  const codes = new Map<string, ApiOutcomeId>();
  for (const outcome of covered.filter((one) => outcomeOf(one).status === 403)) {
    const code = String(outcomeOf(outcome).code);
    if (!codes.has(code)) codes.set(code, outcome as ApiOutcomeId);
  }
  const limited = {
    ...{
      as: outcomeWith(429, "429.per_minute"),
      when: "too_soon",
      whatToDo: whatToDoOn("too-soon-after-429"),
    },
    ...{ places: ["first", "last", "second", "middle"], least: 1 },
  } satisfies Partial<ResendKind>;
  const places = ["last", "first", "second", "middle"] satisfies Place[];
  const dated = { after: "a 429 with a date in `Retry-After`", seconds, asDate: true, places };
  const failing = { as: "fault.status", whatToDo: whatToDoOn("too-soon-after-503"), seconds } as const;
  return [
    { ...limited, name: "resend.429.without", after: "a 429 without `Retry-After`" },
    { ...limited, name: "resend.429.seconds", after: `a 429 with \`Retry-After: ${seconds}\``, seconds },
    { ...limited, name: "resend.429.date", ...dated },
    { ...limited, name: "resend.503.seconds", after: `a 503 with \`Retry-After: ${seconds}\``, ...failing },
    {
      ...{ name: "resend.outage", as: "fault.status", when: "hasty", after: "a 503" },
      ...{ whatToDo: whatToDoOn("no-pause-after-failure"), places: [], least: 0 },
    },
    {
      ...{ name: "resend.401", as: outcomeWith(401, "401.revoked"), when: "always", after: "a 401" },
      ...{
        whatToDo: whatToDoOn("same-key-after-401"),
        places: ["first", "second", "last", "middle"],
        least: 3,
      },
    },
    ...[...codes].map(
      ([code, as]): ResendKind => ({
        ...{ name: `resend.403.${code}`, as, when: "always", after: `a 403 with \`${code}\`` },
        ...{
          whatToDo: whatToDoOn("same-key-after-403"),
          places: ["last", "second", "middle", "first"],
          least: 1,
        },
      }),
    ),
  ];
}

/** The requests of so many that are rejected: those in any case, and the others. */
export function positionsIn({ places, least }: ResendKind, count: number): [number[], number[]] {
  const positions = { first: 1, second: 2, middle: Math.ceil(count / 2), last: count };
  const numbers = (some: readonly Place[]) => [...new Set(some.map((place) => positions[place]))];
  const each = numbers(places.slice(0, least)).filter((number) => number <= count);
  return [each, numbers(places).filter((number) => number <= count && !each.includes(number))];
}

/** The end of the variable that has the key, such as `ACTIVE`. */
export const nameOfKey = (ref: string) => variableOf(ref).replace("SVC_KEY_", "");
