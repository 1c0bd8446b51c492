import { redactKeys } from "../domain/redact.js";
import { durationPattern, parseDuration } from "./duration.js";
import { convertedDuration } from "./duration-slips.js";
import type { TextKind } from "./fields.js";
import { quote } from "./quote.js";
import { maximumRefLength } from "./ref.js";
import { headerValueSlip, methodSlip, pathSlip } from "./request-slips.js";
import { timeSlip } from "./time-slips.js";
import { parseTime } from "./when.js";
import type { Slip } from "./wrong-value.js";

/** What is wrong with a text of the given kind, and what to write instead; `longest` is the most characters it can have. */
export function textSlip(
  name: string,
  value: string,
  kind: TextKind | undefined,
  longest = Number.POSITIVE_INFINITY,
): Slip {
  if (value.trim() === "" && kind !== "header_value") {
    return {
      code: "bad_format",
      message: `${name} is an empty text`,
      hint: "write it, or leave the field out",
    };
  }
  switch (kind) {
    case "ref":
      return refSlip(value);
    case "time":
      return { code: "bad_time", ...timeSlip(value, false) };
    case "duration":
      return durationSlip(name, value);
    case "wait":
      return waitSlip(name, value);
    case "duration_or_none":
      return {
        code: "bad_time",
        message: `${name} is a duration or none, not ${quote(value)}`,
        hint: conversion(value) ?? "write 90d, 12h or none",
      };
    case "time_or_duration":
      return { code: "bad_time", ...timeSlip(value, true) };
    case "method":
      return methodSlip(name, value);
    case "path":
      return pathSlip(name, value);
    case "header_value":
      return headerValueSlip(name, value);
    case undefined:
      return plainSlip(name, value, longest);
    default:
      return formSlip(name, value, kind);
  }
}

function plainSlip(name: string, value: string, longest: number): Slip {
  if (value.length > longest) {
    const message = `${name} is too long: ${value.length} characters`;
    return { code: "out_of_range", message, hint: `shorten it to ${longest} characters` };
  }
  const odd = [...value].find((character) => !/^[ -~]$/.test(character));
  const message = `${name} cannot be ${quote(value)}`;
  const hint = odd === undefined ? "write it in another way" : "write letters, digits and signs of ASCII";
  return { code: "bad_format", message, hint };
}

function durationSlip(name: string, value: string): Slip {
  if (parseDuration(value) === 0) {
    const message = `${name} has to be above zero, not ${value}`;
    return { code: "bad_time", message, hint: "write 1s or more, or remove it" };
  }
  if (/^-\d+(?:ms|s|m|h|d)$/.test(value)) {
    const message = `${name} is a length of time, and ${value} is one in the past`;
    return { code: "bad_time", message, hint: `write it without the sign: ${value.slice(1)}` };
  }
  const message = `${name} is not a duration: ${quote(value)}`;
  if (/^\d+$/.test(value)) {
    const hint = `a duration needs its unit: ${value}s or ${value}m, for example`;
    return { code: "bad_time", message, hint };
  }
  if (durationPattern.test(value)) {
    return { code: "bad_time", message: `${name} is too long: ${value}`, hint: "write a shorter time" };
  }
  if (parseTime(value) !== undefined) {
    return { code: "bad_time", message, hint: "say how long, not until when: 90s, 10m, 2h or 7d" };
  }
  return { code: "bad_time", message, hint: conversion(value) ?? "write it as 90s, 10m, 2h or 7d" };
}

function waitSlip(name: string, value: string): Slip {
  const isLong = /^\d+(?:ms|s|m|h|d)$/.test(value);
  if (isLong)
    return { code: "out_of_range", message: `${name} is an hour at most`, hint: "write 1h or less" };
  const isPast = /^-\d+(?:ms|s|m|h|d)$/.test(value);
  return {
    code: "bad_time",
    message: `${name} is not a duration: ${quote(value)}`,
    hint: isPast
      ? `write it without the sign: ${value.slice(1)}`
      : (conversion(value) ?? "write it as 250ms, 2s or 1m"),
  };
}

function conversion(value: string): string | undefined {
  const converted = convertedDuration(value)?.replace(/^[+-]/, "");
  return converted === undefined ? undefined : `write ${converted}`;
}

/** What is wrong with a text that should be a ref, with the kebab-case form of it. */
export function refSlip(value: string): Slip {
  // Not even in another spelling is a key shown (R46).
  if (redactKeys(value) !== value) {
    return {
      code: "bad_ref",
      message: "an API key cannot be a ref",
      hint: "write the short name of the key",
    };
  }
  const message = `${quote(value)} cannot be a ref`;
  if (value.length > maximumRefLength) {
    const hint = `a ref has ${maximumRefLength} characters at most, and this one has ${value.length}`;
    return { code: "bad_ref", message, hint };
  }
  const kebab = value
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  if (!/[a-z]/.test(kebab)) {
    return {
      code: "bad_ref",
      message,
      hint: `a ref needs a letter: ${kebab === "" ? "key-1" : `key-${kebab}`}`,
    };
  }
  return { code: "bad_ref", message, hint: `refs are in kebab-case: ${kebab}` };
}

function formSlip(name: string, value: string, kind: keyof typeof hintOf): Slip {
  const message = `${quote(value)} is not ${nounOf[kind]}`;
  const repaired = repairs[kind](value);
  return { code: "bad_format", message: `${name}: ${message}`, hint: repaired ?? hintOf[kind] };
}

const nounOf = {
  scope: "a scope name",
  error_code: "an error code",
  time_of_day: "a time of day",
  uuid: "a UUID in lower case",
  sha256: "a SHA-256 in lower-case hex digits",
};
const hintOf = {
  scope: "write it as in attestations:read",
  error_code: "write letters, digits, dots, _ and -, beginning with a letter",
  time_of_day: "write HH:MM in UTC, such as 00:00",
  uuid: "write a UUID, or leave the field out and the seed makes one",
  sha256: "write 64 hex digits, or pin the key itself with secret",
};
const repairs: Record<keyof typeof hintOf, (value: string) => string | undefined> = {
  scope: (value) => (value !== value.toLowerCase() ? `write ${value.toLowerCase()}` : undefined),
  error_code: () => undefined,
  time_of_day: (value) => (/^\d:[0-5]\d$/.test(value) ? `write 0${value}` : undefined),
  sha256: (value) => (/^[\dA-F]{64}$/i.test(value) ? `write ${value.toLowerCase()}` : undefined),
  uuid: (value) =>
    /^[\dA-F]{8}(?:-[\dA-F]{4}){3}-[\dA-F]{12}$/i.test(value) ? `write ${value.toLowerCase()}` : undefined,
};
