import * as s from "../../../schema/shape.js";

/** The fields of a query for a part of a list. `defaultLimit` is the number without a limit. */
export function pageFields(defaultLimit: number | "all", limit = s.integer()) {
  return {
    offset: s.optional(s.described(s.integer(), "The index of the first one. Default: 0.")),
    limit: s.optional(s.described(limit, `At most this many. Default: ${defaultLimit}.`)),
  };
}
