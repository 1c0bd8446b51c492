/** Lines that may be what their author meant, and what was wrong then. Lines and columns count from 0. */
export interface Repair {
  /** The first of the lines that change. */
  readonly line: number;
  /** What they become; as many lines. */
  readonly repaired: readonly string[];
  /** Where the first of them is wrong. */
  readonly column: number;
  readonly reason: string;
  readonly hint: string;
  /** The hint if the line has a part of a secret: it shows no text of the line. */
  readonly hintForSecret: string;
}
