import type { z } from "zod/mini";

type Issue = z.core.$ZodIssue;

/**
 * What is wrong with a value by the kind that it is of, for a field that takes several kinds; `undefined` when the
 * value is of none of them.
 */
export function issuesMeant({ errors }: z.core.$ZodIssueInvalidUnion): readonly Issue[] | undefined {
  const isOfAnotherKind = ({ code, path }: Issue) => code === "invalid_type" && path.length === 0;
  return errors.find((issues) => !issues.some(isOfAnotherKind));
}
