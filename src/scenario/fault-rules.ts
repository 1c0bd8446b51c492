import { outcomeOf } from "../domain/outcomes.js";
import { parseDuration } from "./duration.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { listed, quote } from "./quote.js";
import { type KnownRefs, knownRefsHint } from "./ref-rules.js";
import type { Scenario } from "./scenario.generated.js";
import { parseTime } from "./when.js";
import { fromStart, type ScenarioRule } from "./world-facts.js";

/** A fault as scenarios write it. */
export type FaultFields = NonNullable<Scenario["faults"]>[number];

/** What a fault can speak of. */
export interface FaultWorld {
  readonly keys: KnownRefs;
  readonly organizations: KnownRefs;
  /** Whether there is a preview of the announced endpoints. */
  readonly preview: boolean;
  /** Milliseconds from when durations count to a time or a duration; `undefined` when that cannot be known. */
  readonly fromStart: (text: string) => number | undefined;
}

/** What the fields of every fault say of each other and of the rest of the scenario fits together. */
export const faultsFit: ScenarioRule = (facts) =>
  facts.faults.flatMap(({ fields, path }) =>
    faultFindings(fields, path, {
      keys: facts.keyOf,
      organizations: facts.organizations,
      preview: facts.preview,
      fromStart: (text) => fromStart(text, facts),
    }).filter(({ code }) => facts.refsAreCertain || !code.startsWith("unknown_")),
  );

/** What is wrong with a well-shaped fault in such a world. */
export function faultFindings({ when = {}, then }: FaultFields, path: Path, world: FaultWorld): Finding[] {
  return [
    ...refFindings(when, [...path, "when"], world),
    ...pathFindings(when, [...path, "when", "path_id"], world),
    ...spanFindings(when, [...path, "when"], world),
    ...effectFindings(then, [...path, "then"]),
    ...latencyFindings(then, [...path, "then", "latency"]),
  ];
}

type When = NonNullable<FaultFields["when"]>;
type Then = FaultFields["then"];

function refFindings({ key, organization }: When, path: Path, world: FaultWorld): Finding[] {
  const findings: Finding[] = [];
  if (key !== undefined && !world.keys.has(key)) {
    findings.push({
      code: "unknown_key_ref",
      path: [...path, "key"],
      message: `there is no key ${quote(key)}`,
      hint: knownRefsHint(key, world.keys, "keys"),
    });
  }
  if (organization !== undefined && !world.organizations.has(organization)) {
    findings.push({
      code: "unknown_organization_ref",
      path: [...path, "organization"],
      message: `there is no organization ${quote(organization)}`,
      hint: knownRefsHint(organization, world.organizations, "organizations"),
    });
  }
  return findings;
}

function pathFindings({ path_id: pathId }: When, path: Path, { preview }: FaultWorld): Finding[] {
  if (pathId === undefined || preview || outcomeOf(pathId).preview !== true) return [];
  const message = `no request ends on ${quote(pathId)} without the preview of the announced endpoints`;
  return [{ code: "preview_off", path, message, hint: "write preview: true at the top level" }];
}

function spanFindings({ after, until }: When, path: Path, { fromStart }: FaultWorld): Finding[] {
  if (after === undefined || until === undefined) return [];
  // Two times can be compared wherever the clock starts.
  const [from, to] = [parseTime(after), parseTime(until)];
  const [begins, ends] =
    from !== undefined && to !== undefined ? [from, to] : [fromStart(after), fromStart(until)];
  if (begins === undefined || ends === undefined || begins < ends) return [];
  const message = `the fault would end (${until}) no later than it begins (${after})`;
  return [contradiction([...path, "until"], message, "write a later time, or leave one of the two out")];
}

const ends = ["status", "reset", "hang", "truncate", "malformed", "slow"] as const;

// What can happen to one answer, beside a latency.
const fitting: readonly (readonly (typeof ends)[number][])[] = [
  ["status", "truncate", "slow"],
  ["malformed", "slow"],
  ["reset"],
  ["hang"],
];

function effectFindings(then: Then, path: Path): Finding[] {
  const chosen = ends.filter((name) => then[name] !== undefined && then[name] !== false);
  if (then.body !== undefined && then.status === undefined) {
    return [
      contradiction([...path, "body"], "body goes with a status, and there is none", "add status: 502"),
    ];
  }
  if (chosen.length === 0 && then.latency === undefined) {
    return [
      {
        code: "missing_field",
        path,
        message: "then says nothing that would happen",
        hint: `give it one of ${listed(["latency", ...ends], "or")}`,
      },
    ];
  }
  if (chosen.includes("hang") && then.latency !== undefined) {
    return [
      contradiction(
        [...path, "latency"],
        "a request that hangs has no answer to wait for",
        "remove one of the two",
      ),
    ];
  }
  if (fitting.some((together) => chosen.every((name) => together.includes(name)))) return [];
  const [first, ...others] = chosen as [(typeof ends)[number], ...(typeof ends)[number][]];
  const second = others.find((name) => !fitting.some((one) => one.includes(name) && one.includes(first)));
  const message = `${first} and ${second} cannot both happen to one answer`;
  return [
    contradiction([...path, second ?? first], message, "remove one of the two, or write a second fault"),
  ];
}

function latencyFindings({ latency }: Then, path: Path): Finding[] {
  if (latency === undefined || typeof latency === "string") return [];
  const [least, most] = [parseDuration(latency.min) ?? 0, parseDuration(latency.max) ?? 0];
  if (least <= most) return [];
  const message = `max is ${latency.max}, less than min, which is ${latency.min}`;
  return [contradiction([...path, "max"], message, "exchange the two")];
}

function contradiction(path: Path, message: string, hint: string): Finding {
  return { code: "fault_contradiction", path, message, hint };
}
