import { pluralize } from "../../report/plain-text.js";
import type { Io } from "../io.js";

/** About a hundred thousand lines wait for the reader: one that stops reading must not fill the memory. */
const maxUnreadLength = 32 * 1024 * 1024;

/** Lines are lost if they cannot be written, or if too many wait for the reader; their number is reported later. */
export class LogLines {
  readonly #output: Io["stderr"];
  /** Gets the message about lost lines. */
  onLoss: (message: string) => void = () => {};
  /** The number of lost lines that are not reported yet. */
  #lost = 0;
  /** The length of the text that waits for the reader. */
  #waiting = 0;

  constructor(output: Io["stderr"]) {
    this.#output = output;
  }

  write(text: string): void {
    if (this.#waiting > maxUnreadLength) {
      this.#lost += 1;
      return;
    }
    this.#waiting += text.length;
    this.#output.write(text, (error) => {
      this.#waiting -= text.length;
      if (error) this.#lost += 1;
      else if (this.#lost > 0) this.#reportLoss();
    });
  }

  #reportLoss(): void {
    const count = pluralize(this.#lost, "message");
    this.#lost = 0;
    this.onLoss(`The log could not be written for a while: ${count} lost before the last line.`);
  }
}
