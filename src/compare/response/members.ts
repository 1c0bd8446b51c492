import { pathText } from "../../schema/field-path.js";
import { isMapping } from "../../schema/type-tag.js";
import type { RedactedResponse } from "./response.js";

export const perMinutePath = ["data", "limits", "per_minute"] as const;
export const perDayPath = ["data", "limits", "per_day"] as const;
export const organizationIdPath = ["data", "organization", "id"] as const;
export const todayPath = ["data", "usage", "today"] as const;

export function memberIn(response: RedactedResponse, path: readonly string[]): unknown {
  let member = response.json;
  for (const step of path) {
    if (!isMapping(member) || !Object.hasOwn(member, step)) return undefined;
    member = member[step];
  }
  return member;
}

/** Returns a count or a limit in a success; `undefined` if it is not a whole number. */
export function wholeNumberIn(response: RedactedResponse, path: readonly string[]): number | undefined {
  const value = memberIn(response, path);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Reads a key's requests of the day, and their limit, from a 200; `undefined` if one of them is no whole number. */
export function readDayUse(
  success: RedactedResponse,
): { readonly today: number; readonly perDay: number } | undefined {
  const today = wholeNumberIn(success, todayPath);
  const perDay = wholeNumberIn(success, perDayPath);
  if (today === undefined || perDay === undefined) return undefined;
  return { today, perDay };
}

/** Returns the number at a place of the body with the digits that it has there: `1.50` for 1.5. */
export function numberText(response: RedactedResponse, path: readonly string[], value: number): string {
  return response.numbers.get(pathText(path)) ?? String(value);
}
