import { SandboxError } from "../rules/errors.js";
import { type Instant, isoTime } from "../rules/time.js";
import { checkedCopy, checkInput, requireKnownOptions, throwIfProblems } from "../rules/validation.js";
import { requireInstant } from "../sandbox/clock.js";
import { defaultFarmerPage } from "../sandbox/farmer-records/farmer-list.js";
import { actorQuery } from "../scenario/format/inputs.js";
import { libraryNotation } from "../schema/notation.js";
import type { Shape, ValueOf } from "../schema/shape.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import type { ActingAs, FarmerPage } from "./sandbox.js";

// What users give the members of a sandbox, checked and copied. All of these throw `validation_failed` with the names of the library.

/** An argument whose members have the names of its shape already. */
export function checkedArgument<Of extends Shape>(
  shape: Of,
  argument: unknown,
  attempt: string,
): ValueOf<Of> {
  return checkInput(shape, argument, attempt, libraryNotation);
}

/** Options as a query of the journal. `names`: those of the library's options. */
export function checkedJournalQuery<Of extends Shape>(
  shape: Of,
  options: object,
  names: readonly string[],
  attempt: string,
): ValueOf<Of> {
  requireKnownOptions(attempt, options, names);
  return checkedCopy(shape, membersToSnakeCase(options), attempt, libraryNotation);
}

/** Who acts. Default: an administrator. */
export function checkedActor(by: ActingAs = {}) {
  return checkedArgument(actorQuery, by, "act");
}

/** Which farmers to list. */
export function checkedPage(page: FarmerPage): Required<FarmerPage> {
  requireKnownOptions("list farmers", page, ["offset", "limit"]);
  const { offset = 0, limit = defaultFarmerPage } = page;
  const problemOf = (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0";
  throwIfProblems("list farmers", { offset: problemOf(offset), limit: problemOf(limit) });
  return { offset, limit };
}

/**
 * The fields of a key, to be checked by their shape: if the end is a `Date` or a number, it becomes a text as in scenarios. Any other
 * text, such as a duration, stays.
 */
export function withExpiryAsText(fields: { readonly expires?: string | Instant }): unknown {
  // The caller may have given anything in place of the fields.
  const { expires } = Object(fields) as typeof fields;
  if (expires === undefined || typeof expires === "string") return fields;
  return { ...fields, expires: isoTime(requireInstant(expires)) };
}

/** A function that rejects any value, because the value would do nothing. */
export function rejectingArguments<Result>(
  name: string,
  run: () => Result,
): (...values: readonly unknown[]) => Result {
  return (...values) => {
    if (values.every((value) => value === undefined)) return run();
    throw new SandboxError("validation_failed", `${name} has no options. Call it without a value.`);
  };
}
