import { environments } from "../../domain/api-key.js";
import { isInstant } from "../clock.js";
import type { NewKey } from "./create-key.js";
import {
  choiceProblem,
  type FieldProblems,
  refProblem,
  requireFields,
  unknownFields,
} from "./require-fields.js";

const fields = ["organization", "environment", "name", "scopes", "limits", "ref", "expiresAt"];
const maximumNameLength = 200;

/** Throws `validation_failed` when the fields of a key to create are not of the kind that they must be (R29). */
export function requireNewKey(wanted: NewKey): void {
  requireFields("create a key", {
    ...unknownFields(wanted, fields),
    organization: typeof wanted.organization === "string" ? undefined : "must be the ref of an organization",
    environment: choiceProblem(wanted.environment, environments),
    name: nameProblem(wanted.name),
    scopes: scopesProblem(wanted.scopes),
    ...limitProblems(wanted.limits),
    ref: refProblem(wanted.ref),
    expires:
      wanted.expiresAt === undefined || isInstant(wanted.expiresAt)
        ? undefined
        : "must be a time in the years 0000 to 9999",
  });
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name === "string" && name !== "" && name.length <= maximumNameLength) return undefined;
  return `must be a text of 1 to ${maximumNameLength} characters`;
}

function scopesProblem(scopes: unknown): string | undefined {
  if (scopes === undefined) return undefined;
  if (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== "string")) {
    return "must be a list of scope names";
  }
  return new Set(scopes).size === scopes.length ? undefined : "must not name a scope twice";
}

function limitProblems(limits: unknown): FieldProblems {
  if (limits === undefined) return {};
  if (typeof limits !== "object" || limits === null) return { limits: "must hold perMinute and perDay" };
  const { perMinute, perDay } = limits as Record<string, unknown>;
  return {
    ...unknownFields(limits, ["perMinute", "perDay"], "limits."),
    "limits.per_minute": limitProblem(perMinute),
    "limits.per_day": limitProblem(perDay),
  };
}

function limitProblem(limit: unknown): string | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && (limit as number) >= 0)) return undefined;
  return "must be a whole number from 0";
}
