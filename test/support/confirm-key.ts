import type { Sandbox } from "../../src/index.js";

interface Question {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: Sandbox["fetch"];
  readonly wait?: (milliseconds: number) => Promise<void>;
  readonly attempts?: number;
}
type ConfirmKey = (question: Question) => Promise<Readonly<Record<string, unknown>>>;

/** The client of the examples, which is plain JavaScript. */
export const { confirmKey } = (await import(`${"../../examples"}/node-test/confirm-key.js`)) as {
  confirmKey: ConfirmKey;
};
