import type { Finding } from "./finding.js";
import type { Path } from "./located.js";

/** Names that mean something to JavaScript objects; a scenario that used them could reach into the sandbox itself. */
export const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** What is said of a field with such a name. */
export function nameFinding(path: Path, name: string): Finding {
  return {
    code: "forbidden_field",
    path,
    aim: "key",
    message: `${JSON.stringify(name)} cannot be the name of anything in a scenario`,
    hint: "choose another name",
  };
}
