import { parseDuration } from "./duration.js";
import { type TextKind, textKinds } from "./fields.js";
import type { Finding } from "./finding.js";
import type { FieldForm } from "./format-lookup.js";
import { nearest } from "./nearest.js";
import { listed, quote } from "./quote.js";
import { textSlip } from "./text-slips.js";
import { onlyMember, wrongMapping } from "./wrong-mapping.js";

/** What is said of a value, without its path. */
export type Slip = Pick<Finding, "code" | "message" | "hint">;

/** What is wrong with a value that the form of its field does not allow, and what to write instead. */
export function wrongValue(name: string, value: unknown, form: FieldForm): Slip {
  if (form.enum !== undefined) return wrongChoice(name, value, form.enum);
  if (value === null) return leftEmpty(name, form);
  const kind = textKinds.get(form.pattern ?? "");
  switch (form.type) {
    case "integer":
      return wrongCount(name, value, form);
    case "number":
      return wrongNumber(name, value, form);
    case "boolean":
      return wrongFlag(name, value);
    case "array":
      return wrongList(name, value, form);
    case "object":
      return wrongMapping(name, value, form);
    default:
      return typeof value === "string"
        ? textSlip(name, value, kind, form.maxLength)
        : wrongText(name, value, kind);
  }
}

function leftEmpty(name: string, form: FieldForm): Slip {
  const empty = form.type === "object" ? ", or write {}" : "";
  return {
    code: "wrong_type",
    message: `${name} is empty`,
    hint: `give it a value or remove the line${empty}`,
  };
}

// What other services call our choices.
const otherChoices: Readonly<Record<string, string>> = {
  sandbox: "test",
  testing: "test",
  staging: "test",
  dev: "test",
  production: "live",
  prod: "live",
  disabled: "revoked",
  deleted: "revoked",
  replaced: "rotated",
  rotating: "retiring",
  pending: "not_approved",
  unapproved: "not_approved",
  none: "not_approved",
  insurance: "insurer",
  enabled: "active",
  suspended: "inactive",
};

// More choices than this are not read out.
const mostChoicesTold = 8;

function wrongChoice(name: string, value: unknown, of: readonly unknown[]): Slip {
  const choices = of.map(String);
  const typed = String(value).toLowerCase();
  const other = Object.hasOwn(otherChoices, typed) ? otherChoices[typed] : undefined;
  // A number that is near is no likelier to be meant.
  const near = of.every((one) => typeof one === "number") ? undefined : nearest(typed, choices);
  const meant = other !== undefined && choices.includes(other) ? other : near;
  const told = choices.length > mostChoicesTold ? "one of a fixed list" : listed(choices, "or");
  const message = value === null ? `${name} is empty` : `${name} is ${told}, not ${quote(value)}`;
  if (typeof value === "string" && of.includes(Number(value.trim()))) {
    return { code: "bad_choice", message, hint: `write ${value.trim()} without quotes` };
  }
  const hint = meant === undefined ? `write ${listed(choices, "or")}` : `did you mean ${meant}?`;
  return { code: "bad_choice", message, hint };
}

// Why a count goes no further, where that is a rule.
const whyNoMore: Readonly<Record<string, string>> = {
  keys_per_organization: "R32 allows five active keys in each environment",
};

function wrongCount(name: string, value: unknown, { minimum: least = 0, maximum }: FieldForm): Slip {
  // Every integer has a largest one; only a smaller limit is worth a word.
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const range = most === undefined ? `${least} or more` : `from ${least} to ${most}`;
  if (typeof value !== "number") {
    const looksRight = typeof value === "string" && /^\d+$/.test(value.trim());
    return {
      code: "wrong_type",
      message: `${name} is a whole number, not ${quoteText(value)}`,
      hint: looksRight ? `write ${value.trim()} without quotes` : `write a whole number, ${range}`,
    };
  }
  const message = `${name} is a whole number, ${range}, not ${value}`;
  if (value < least) return { code: "out_of_range", message, hint: `write ${least} or more` };
  if (!Number.isInteger(value)) return { code: "out_of_range", message, hint: wholeHint(value) };
  const why = Object.hasOwn(whyNoMore, name) ? `: ${whyNoMore[name]}` : "";
  const hint = most === undefined ? "write a smaller number" : `write ${most} or less${why}`;
  return { code: "out_of_range", message, hint };
}

function wrongNumber(name: string, value: unknown, { minimum, maximum }: FieldForm): Slip {
  const range = minimum === undefined ? "a number" : `a number from ${minimum} to ${maximum}`;
  const message = `${name} is ${range}, not ${quoteText(value)}`;
  if (typeof value === "number" && value >= 2 && value <= 100 && maximum === 1) {
    return { code: "out_of_range", message, hint: `for ${value} percent write ${value / 100}` };
  }
  const percent = typeof value === "string" ? /^(\d{1,3})\s*%$/.exec(value.trim())?.[1] : undefined;
  if (percent !== undefined && maximum === 1) {
    return { code: "wrong_type", message, hint: `write ${Number(percent) / 100}` };
  }
  const code = typeof value === "number" ? "out_of_range" : "wrong_type";
  return minimum === undefined ? { code, message } : { code, message, hint: `write ${range}, such as 0.25` };
}

function wholeHint(value: number): string {
  return Number.isFinite(value) ? `write ${Math.trunc(value)} or ${Math.trunc(value) + 1}` : "write a number";
}

function wrongFlag(name: string, value: unknown): Slip {
  const message = `${name} is true or false, not ${quoteText(value)}`;
  const typed = String(value).toLowerCase();
  if (["true", "yes", "on", "y", "1"].includes(typed)) {
    return { code: "wrong_type", message, hint: "write true, without quotes" };
  }
  const no = ["false", "no", "off", "n", "0"].includes(typed);
  return { code: "wrong_type", message, hint: no ? "write false, without quotes" : "write true or false" };
}

function wrongList(name: string, value: unknown, { maxItems, items }: FieldForm): Slip {
  if (Array.isArray(value) && value.length > 0) {
    const hint = maxItems === undefined ? "list fewer" : `list ${maxItems} at most`;
    return { code: "out_of_range", message: `${name} is too long: ${value.length} entries`, hint };
  }
  if (Array.isArray(value)) {
    return {
      code: "empty_list",
      message: `${name} is an empty list`,
      hint: "give one or leave the field out",
    };
  }
  if (items?.type === "object") {
    const hint = `write a list: a dash before each of them`;
    return { code: "wrong_type", message: `${name} is a list, not ${quoteText(value)}`, hint };
  }
  const single =
    typeof value === "number" || (typeof value === "string" && value.length < 60 && !/[\s,]/.test(value));
  return {
    code: "wrong_type",
    message: `${name} is a list, not ${quoteText(value)}`,
    hint: single ? `write [${value}]` : "write a list: [one, two]",
  };
}

function wrongText(name: string, value: unknown, kind: TextKind | undefined): Slip {
  const message = `${name} is a text, not ${quote(value)}`;
  const unwrapped = onlyMember(value);
  if (unwrapped !== undefined && !isDuration(kind)) {
    return { code: "wrong_type", message, hint: `write ${isItem(name) ? "" : `${name}: `}${unwrapped}` };
  }
  if (kind === "time_or_duration" && typeof value === "number") {
    return {
      code: "bad_time",
      message: `${name} is a time or a duration, not the number ${value}`,
      hint: `a duration needs its unit: ${value}s or ${value}m, for example`,
    };
  }
  if (isDuration(kind)) return noDuration(name, value, kind);
  if (kind === "time") {
    return { code: "bad_time", message, hint: "write an ISO 8601 time, such as 2026-03-02T09:00:00Z" };
  }
  const scalar = typeof value === "number" || typeof value === "boolean";
  return { code: "wrong_type", message, hint: scalar ? `put it in quotes: "${value}"` : "write a text" };
}

function isDuration(kind: TextKind | undefined): kind is "wait" | "duration" {
  return kind === "wait" || kind === "duration";
}

function noDuration(name: string, value: unknown, kind: "wait" | "duration"): Slip {
  const [some, more] = kind === "wait" ? ["ms", "s"] : ["s", "m"];
  if (typeof value === "number") {
    return {
      code: "bad_time",
      message: `${name} is a duration, not the number ${value}`,
      hint: `a duration needs its unit: ${value}${some} or ${value}${more}, for example`,
    };
  }
  const inside = onlyMember(value);
  const isOne = inside !== undefined && parseDuration(inside) !== undefined;
  const example = kind === "wait" ? "250ms, 2s or 1m" : "90s, 10m, 2h or 7d";
  return {
    code: "wrong_type",
    message: `${name} is a duration, not ${quote(value)}`,
    hint: isOne ? `write ${name}: ${inside}` : `write it as ${example}`,
  };
}

/** Whether the name is that of a place in a list, as in `faults[0]`. */
function isItem(name: string): boolean {
  return name.endsWith("]");
}

function quoteText(value: unknown): string {
  return typeof value === "string" ? `the text ${quote(value)}` : quote(value);
}
