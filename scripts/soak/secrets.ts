import { decodePrintable } from "../../src/domain/redact.js";
import { base62From, pick, type RandomStream } from "../../src/domain/seed.js";

/** The full keys that were sent or made, and where they must not stand. */
export interface Secrets {
  readonly add: (secret: string) => void;
  /** A key that looks like one of the real service; remembered. */
  readonly invent: (draw: RandomStream) => string;
  /** Whether a text holds one of the keys, in any letter case and percent-encoding. */
  readonly isIn: (text: string) => boolean;
  readonly size: () => number;
}

// A key is recognised by the first characters behind its prefix: a part of a random text is as telling as the whole.
const telling = 16;

export function createSecrets(): Secrets {
  const heads = new Set<string>();
  const add = (secret: string) => {
    heads.add(
      secret
        .replace(/^.*?_.*?_/, "")
        .slice(0, telling)
        .toLowerCase(),
    );
  };
  const isInRun = (run: string) => {
    for (let at = 0; at + telling <= run.length; at++) {
      if (heads.has(run.slice(at, at + telling))) return true;
    }
    return false;
  };
  return {
    add,
    invent(draw) {
      const prefix = pick(draw, ["SVC_test_", "SVC_live_", "legacysvc_test_", "legacysvc_live_"]);
      const secret = `${prefix}${base62From(draw, 32)}`;
      add(secret);
      return secret;
    },
    isIn(text) {
      const spelled = text.includes("%") ? `${text}\n${decodePrintable(text)}` : text;
      return (spelled.toLowerCase().match(/[a-z0-9]{16,}/g) ?? []).some(isInRun);
    },
    size: () => heads.size,
  };
}
