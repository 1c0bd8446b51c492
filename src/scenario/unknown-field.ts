import { parseDuration } from "./duration.js";
import { homeOf, whereIs } from "./field-homes.js";
import { type Finding, pathText } from "./finding.js";
import { fieldsAt, levelPath } from "./format-lookup.js";
import type { Path } from "./located.js";
import { nearest } from "./nearest.js";
import { namesInSteps, otherNames } from "./other-names.js";
import { listed, quote } from "./quote.js";
import { specialHint } from "./special-fields.js";

type Guess = Pick<Finding, "hint" | "meant">;

/**
 * What is said of a field that the format does not have at this place: where it belongs, or what was probably meant.
 *
 * `holder` is the mapping that has the field.
 */
export function unknownField(parent: Path, name: string, holder: unknown): Finding {
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(parent)}`;
  return {
    code: "unknown_field",
    path: [...parent, name],
    aim: "key",
    message: `unknown field ${quote(name)} ${where}`,
    ...guess(name, parent, (holder ?? {}) as Readonly<Record<string, unknown>>),
  };
}

function guess(name: string, parent: Path, holder: Readonly<Record<string, unknown>>): Guess {
  const fields = fieldsAt(parent);
  const level = levelPath(parent);
  const spelled = snakeCase(name);
  const special =
    specialHint(level, spelled, holder[name], parent) ?? withUnit(spelled, holder[name], fields, parent);
  if (special !== undefined) return special;
  const synonyms = [...(namesIn(level, spelled) ?? []), ...(own(otherNames, spelled) ?? [])];
  const here = [spelled, ...synonyms].filter((one) => fields.includes(one));
  const free = here.find((one) => !Object.hasOwn(holder, one));
  if (free !== undefined) return { hint: `did you mean ${quote(free)}?`, meant: [...parent, free] };
  const home = homeOf(spelled, level);
  if (home !== undefined) return { hint: `${quote(spelled)} belongs ${whereIs(home, level)}` };
  const near = nearest(name, fields);
  if (near !== undefined) return { hint: `did you mean ${quote(near)}?`, meant: [...parent, near] };
  // Nobody is sent to write a secret into the file who has not named one.
  for (const one of synonyms.filter((name) => name !== "secret")) {
    const other = homeOf(one, level);
    if (other !== undefined) return { hint: `${quote(one)} belongs ${whereIs(other, level)}` };
  }
  return { hint: `known fields here: ${listed(fields, "and")}` };
}

function namesIn(level: readonly string[], name: string): readonly string[] | undefined {
  if (level[0] !== "story" && level[0] !== "timeline") return undefined;
  const names = own(namesInSteps, level.at(-1) === "<item>" ? level.join(".") : (level.at(-1) ?? ""));
  return names && own(names, name);
}

function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

const unitOf: Readonly<Record<string, string>> = {
  ms: "ms",
  millis: "ms",
  milliseconds: "ms",
  secs: "s",
  seconds: "s",
  mins: "m",
  minutes: "m",
  hours: "h",
  days: "d",
};

// `overlap_minutes: 60`: our durations say their unit themselves.
function withUnit(name: string, value: unknown, fields: readonly string[], parent: Path): Guess | undefined {
  const [, field = "", word = ""] = /^([a-z_]+)_([a-z]+)$/.exec(name) ?? [];
  const unit = own(unitOf, word);
  if (unit === undefined || !fields.includes(field)) return undefined;
  const written = `${typeof value === "number" ? value : 30}${unit}`;
  if (parseDuration(written) === undefined) return undefined;
  return { hint: `write ${field}: ${written}`, meant: [...parent, field] };
}

/** `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase();
}
