import { expect } from "vitest";
import { headerOf } from "../../src/check/answer.js";
import type { Seen } from "./send.js";

/** An answer is the API's error body of this status and code, and nothing else. */
export function expectError(seen: Seen, status: number, code: string): void {
  expect(seen.status).toBe(status);
  expect(headerOf(seen, "content-type")).toBe("application/json");
  const body = JSON.parse(seen.body);
  // R27: nothing else at the top level, and nothing else in the error.
  expect(body).toEqual({ error: { code, message: expect.any(String) } });
}
