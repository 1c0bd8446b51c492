import { emitKeypressEvents } from "node:readline";
import type { ReadStream } from "node:tty";
import type { KeyPresses } from "./io.js";

/** Hears the keys of a terminal, each as it is pressed; `undefined` when the input is no terminal. */
export function keyPressesOf(input: ReadStream): KeyPresses | undefined {
  if (input.isTTY !== true) return undefined;
  // Keys that are pressed before anybody asks are kept, in order.
  const pressed: string[] = [];
  let waiting: ((key: string) => void) | undefined;
  const hear = (text: string | undefined, key: { name?: string; ctrl?: boolean }) => {
    const name = key.ctrl === true ? `ctrl-${key.name}` : (key.name ?? text ?? "");
    if (waiting === undefined) pressed.push(name);
    else waiting(name);
    waiting = undefined;
  };
  emitKeypressEvents(input);
  input.setRawMode(true);
  input.on("keypress", hear);
  input.resume();
  return {
    next() {
      const first = pressed.shift();
      if (first !== undefined) return Promise.resolve(first);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    close() {
      input.off("keypress", hear);
      input.setRawMode(false);
      // A terminal that is listened to keeps the process alive.
      input.pause();
    },
  };
}
