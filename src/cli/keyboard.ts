import { on } from "node:events";
import type { ReadStream } from "node:tty";

/** The keyboard of a terminal, until it is closed. */
export interface KeyPresses {
  /** Resolves to the character of the next key, or to a name such as `return`, `space`, `left` or `ctrl-c`. */
  readonly next: () => Promise<string>;
  readonly close: () => void;
}

/** Listens to the keyboard of a terminal; `undefined` if the input is none. */
export async function openKeyboard(input: ReadStream): Promise<KeyPresses | undefined> {
  if (input.isTTY !== true) return undefined;
  const { emitKeypressEvents } = process.getBuiltinModule("node:readline");
  emitKeypressEvents(input);
  input.setRawMode(true);
  // Keeps keys in order that are pressed before they are read.
  const presses = on(input, "keypress");
  input.resume();
  return {
    async next() {
      // Once it is closed, the value is missing.
      const { value = [] } = await presses.next();
      const [text = "", key = {}] = value as [string?, { name?: string; ctrl?: boolean }?];
      if (key.ctrl === true) return `ctrl-${key.name}`;
      return key.name ?? text;
    },
    close() {
      presses.return?.();
      input.setRawMode(false);
      // Reading a terminal keeps the process alive.
      input.pause();
    },
  };
}
