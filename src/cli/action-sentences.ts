import type { Action, Performed } from "../sandbox/operations/perform-action.js";
import { effectsOf, farmerDoes, overlapOf } from "./action-line.js";
import { durationInWords } from "./in-words.js";

/** What came of an action, as far as a narrator needs it. */
export interface Came extends Partial<Pick<Performed, "key" | "replacement">> {
  readonly refusal: { readonly code: string } | null;
}

/** What somebody does to the world and what comes of it, as a narrator says it. */
export function actionSentences(action: Action, came: Came): string {
  const { doing, tries, after } = described(action, came);
  const { refusal } = came;
  return refusal === null
    ? [doing, after].filter(Boolean).join(" ")
    : `${tries} It is refused: ${refusal.code}.`;
}

interface Described {
  readonly doing: string;
  /** The same for what was refused. */
  readonly tries: string;
  /** What comes of it. */
  readonly after?: string;
}

function described(action: Action, { key, replacement }: Came): Described {
  const { create_key: created, rotate, revoke, organization, consent, faults } = action;
  if (created !== undefined) {
    const ref = key?.ref ?? created.ref;
    const named = ref === undefined ? "key" : `key ${ref}`;
    const what = `${created.environment} ${named} for ${created.organization} (${JSON.stringify(created.name)})`;
    return {
      doing: `${whoIn(created)} creates the ${what}.`,
      tries: `${whoIn(created)} tries to create the ${what}.`,
    };
  }
  if (rotate !== undefined) {
    return {
      doing: `${whoIn(rotate)} rotates the key ${rotate.key}.`,
      tries: `${whoIn(rotate)} tries to rotate the key ${rotate.key}.`,
      after: `The new key is ${replacement?.ref ?? rotate.as ?? "another one"}; ${oldKey(overlapOf(rotate))}.`,
    };
  }
  if (revoke !== undefined) {
    return {
      doing: `${whoIn(revoke)} revokes the key ${revoke.key}.`,
      tries: `${whoIn(revoke)} tries to revoke the key ${revoke.key}.`,
    };
  }
  if (organization !== undefined) {
    const { ref, ...changes } = organization;
    const what = Object.entries(changes).map(([name, value]) => changeInWords(name, value));
    return {
      doing: `The organization ${ref} changes: ${what.join("; ")}.`,
      tries: `The organization ${ref} is to change: ${what.join("; ")}.`,
    };
  }
  if (consent !== undefined) {
    const asked = consent.organization === undefined ? "" : ` of ${consent.organization}`;
    const farmer = `The farmer number ${consent.farmer}`;
    return {
      doing: `${farmer} ${farmerDoes[consent.do]} the consent request${asked}.`,
      tries: `${farmer} tries to ${consent.do} the consent request${asked}.`,
    };
  }
  const none = faults === undefined || faults.length === 0;
  return {
    doing: none
      ? "The network is well: no more faults."
      : `From now on faults may befall requests: ${effectsOf(faults)}.`,
    tries: "The network is to behave in another way.",
  };
}

function whoIn({ actor }: { readonly actor?: string }): string {
  return actor === "member" ? "A member of the organization" : "An administrator";
}

function oldKey(overlap: string): string {
  if (/^\+?0+[a-z]+$/.test(overlap)) return "the old one stops working at once";
  return `the old one works for ${durationInWords(overlap).replace(/^(\d+)/, "$1 more")}`;
}

function changeInWords(name: string, value: unknown): string {
  if (name === "sandbox_access") return `its sandbox access is now ${value === true ? "on" : "off"}`;
  return `its ${name.replace("_", " ")} is now ${String(value).replace("_", " ")}`;
}
