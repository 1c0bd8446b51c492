import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { isRef } from "./ref.js";

type Guess = Pick<Finding, "hint" | "meant">;

/** Fields that many expect and that the format says in another way. */
interface Special {
  /** The end of the level where they are expected. */
  readonly level: string;
  readonly names: readonly string[];
  readonly hint: string;
  /** The field of the same level that says it. */
  readonly meant?: string;
}

const specials: readonly Special[] = [
  {
    level: "timeline.<item>.expect",
    names: ["status", "code", "path", "headers", "body", "path_id"],
    hint: "of a step of the timeline only error can be expected; what requests get is for the story",
    meant: "error",
  },
  {
    level: "timeline.<item>",
    names: ["every", "repeat"],
    hint: "a step happens once: write one for each time, each with its at",
  },
  {
    level: "story.<item>.expect",
    names: ["data"],
    hint: "it is in the body: write body: { data: … }",
    meant: "body",
  },
  {
    level: "story.<item>.request",
    names: ["query", "params", "search"],
    hint: "a query is part of the path: write path: /v1/relying-party/me?name=value",
  },
  {
    level: "create_key",
    names: ["secret", "sha256", "token", "value"],
    hint: "the secret of a new key follows from the seed and its ref: remove it",
  },
  {
    level: "create_key",
    names: ["legacy"],
    hint: "a new key has no legacy prefix (R17): remove it, or describe the key under organizations",
  },
  {
    level: "story.<item>",
    names: ["expire"],
    hint: "a key expires by itself: give it expires, and let time pass with advance",
  },
];

const decisions = ["grant", "reject", "revoke"];

/** What is said of such a field; `undefined` when it is none. `parent` is the path of the level. */
export function specialHint(
  level: readonly string[],
  name: string,
  value: unknown,
  parent: Path,
): Guess | undefined {
  const here = level.join(".");
  const isStep = level[0] === "story" || level[0] === "timeline";
  const found = specials.find(
    ({ level: end, names }) => isStep && names.includes(name) && (here === end || here.endsWith(`.${end}`)),
  );
  if (found !== undefined) {
    return { hint: found.hint, ...(found.meant !== undefined && { meant: [...parent, found.meant] }) };
  }
  if (isStep && here.endsWith(".consent") && decisions.includes(name)) {
    return { hint: `write do: ${name}`, meant: [...parent, "do"] };
  }
  // organization: { my-bank: { status: inactive } }
  const isNested = typeof value === "object" && value !== null && isRef(name);
  if (isStep && level.at(-1) === "organization" && isNested) {
    return { hint: `write organization: { ref: ${name}, … }`, meant: [...parent, "ref"] };
  }
  return undefined;
}
