import { quote } from "../../schema/words.js";
import { parseDate } from "../format/changes.js";
import type { ScenarioRule } from "./facts.js";

/** Each announced change has an effect, and an old path ends after it moved. */
export const changesFit: ScenarioRule = ({ scenario, assumptions: { scopes }, wrong }) => {
  for (const [ref, change] of Object.entries(scenario.changes ?? {})) {
    const { at, say: _, move, assumptions, ...edits } = change;
    const path = ["changes", ref];
    const parts = [move, assumptions, ...Object.values(edits)];
    const isPlace = (name: string) => name === "in" || name === "on";
    if (parts.every((part = {}) => Object.keys(part).every(isPlace))) {
      wrong(
        "change_contradiction",
        path,
        "the change has no effect",
        "add an effect, such as codes or members",
        "key",
      );
    }
    const [starts = 0, ends = 0] = [parseDate(at), move && parseDate(move.sunset)];
    if (move !== undefined && ends <= starts) {
      const message = `the old path must end after it moves (${at}), not ${move.sunset}`;
      wrong("change_contradiction", [...path, "move", "sunset"], message, "write a later date");
    }
    const needed = assumptions?.me_scope;
    if (typeof needed === "string" && !scopes.includes(needed)) {
      const hint = `use one of ${scopes.join(", ")}`;
      const message = `there is no scope ${quote(needed)}`;
      wrong("unknown_scope", [...path, "assumptions", "me_scope"], message, hint);
    }
  }
};
