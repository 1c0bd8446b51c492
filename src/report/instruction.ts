import { variableOf } from "../domain/key-variable.js";
import type { PathId } from "../domain/outcomes.js";
import type { SureRequest } from "./sure-requests.js";

/** What to do to send a request: words, and behind a colon a line for a shell. `options` are more options of curl. */
export function instruction(
  pathId: PathId,
  { method, path, key, headers = {}, body }: SureRequest,
  options = "",
): string {
  const verb = method === "GET" ? "" : `-X ${method} `;
  // Without a timeout curl waits for ever.
  const patience = pathId === "fault.hang" ? "-m 5 " : "";
  const { words, header } = presented(key);
  const option = header === undefined ? "" : `-H ${header} `;
  const more = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)} `);
  const data = body === undefined ? "" : `-d ${quoted(body)} `;
  const own = options === "" ? "" : `${options} `;
  return `${words}: curl ${own}${patience}${verb}${option}${more.join("")}${data}"$SVC_BASE_URL${path}"`;
}

/** An instruction taken apart: its words, with the colon, and the line; `undefined` when there is none. */
export function lineIn(instruction: string): { readonly words: string; readonly line: string | undefined } {
  const cut = instruction.indexOf(": curl ");
  if (cut === -1) return { words: instruction, line: undefined };
  return { words: instruction.slice(0, cut + 1), line: instruction.slice(cut + 2) };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function presented(key: SureRequest["key"]): { words: string; header: string | undefined } {
  if (typeof key === "object") {
    const variable = variableOf(key.ref);
    return { words: `send ${variable} (ref ${key.ref})`, header: `"x-api-key: $${variable}"` };
  }
  if (key === "malformed") return { words: "send what is no key", header: '"x-api-key: not-a-key"' };
  // In two pieces, which the shell puts together: a report holds nothing that looks like a key.
  if (key === "unknown") {
    return { words: "send a key that nobody holds", header: "'x-api-key: SVC_test_''sbx-nobody-holds-this'" };
  }
  return { words: "send no key", header: undefined };
}
