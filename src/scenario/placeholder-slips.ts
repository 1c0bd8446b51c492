import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { nearest } from "./nearest.js";
import { quote } from "./quote.js";
import { storyPlaceholder } from "./story-placeholder.js";
import type { WorldFacts } from "./world-facts.js";

const kinds = ["farmer", "consent", "attestation"];
const exactly = new RegExp(`^${storyPlaceholder.source}$`);
// At most so long: nobody means an id by more.
const lookAlike = /\{ *([A-Za-z][\w-]{0,30})\.([\w-]{1,30}) *\}/g;

/** What is wrong with what looks like a placeholder for an id in a story's request and is none: it would be sent as it is. */
export function placeholderSlips(
  request: { readonly path?: string; readonly body?: unknown },
  at: Path,
  { preview }: Pick<WorldFacts, "preview">,
): Finding[] {
  return (["path", "body"] as const).flatMap((name): Finding[] => {
    const text = request[name] === undefined ? "" : JSON.stringify(request[name]);
    // A text may hold braces of its own; a path holds none.
    const wrong = wrongPlaceholder(text, name === "body" && !preview);
    if (wrong === undefined) return [];
    const message = `${quote(wrong.whole)} stands for nothing, and would be sent as it is`;
    return [{ code: "bad_format", path: [...at, name], message, hint: wrong.hint }];
  });
}

function wrongPlaceholder(text: string, onlyNear: boolean): { whole: string; hint: string } | undefined {
  for (const [whole, kind = "", number = ""] of text.matchAll(lookAlike)) {
    if (exactly.test(whole)) continue;
    const meant = kinds.includes(kind) ? kind : nearest(kind, kinds);
    if (meant !== undefined) {
      const first = meant === "farmer" ? "0" : "1";
      return { whole, hint: `did you mean {${meant}.${/^\d{1,9}$/.test(number) ? number : first}}?` };
    }
    // Others name the field that they want: {last.id}. Anything else may be meant as it stands.
    if (!onlyNear && /^(?:id|[a-z]+_id)$/.test(number))
      return { whole, hint: "there are {farmer.0}, {consent.1} and {attestation.1}, with preview: true" };
  }
  return undefined;
}
