import { failures } from "../domain/fault.js";
import { mePath, type Outcome, outcomes } from "../domain/outcomes.js";
import type { KeyEnd } from "./key-ends.js";
import { listed, quote } from "./quote.js";

/** Why something cannot happen, and what to write instead. */
export interface Reason {
  readonly message: string;
  readonly hint: string;
}

interface Request {
  readonly path?: string;
  readonly method?: string;
}

const announced = /^\/v1\/relying-party\/(?:consent-requests|attestations)(?:\/|$)/;

/** Whether the request goes to the endpoint that tells a client who it is. */
export function isMe({ path }: Request): boolean {
  return path === undefined || pathOf(path) === mePath;
}

function pathOf(target: string): string {
  return target.split("?")[0] as string;
}

/** Why a request cannot succeed, whatever its key: the API lacks the path, or the path takes another method. */
export function whyNotThere(request: Request, preview: boolean): Reason | undefined {
  const { path, method = "GET" } = request;
  if (isMe(request)) {
    if (method === "GET" || method === "HEAD") return undefined;
    return { message: `the path does not take ${method}`, hint: "expect status: 405, or leave method out" };
  }
  const asked = pathOf(path as string);
  if (announced.test(asked)) {
    if (preview) return undefined;
    return {
      message: "there is no preview of the announced endpoints",
      hint: "write preview: true at the top level",
    };
  }
  return {
    message: `the API has no path ${quote(asked)}`,
    hint: `expect status: 404, or write path: ${mePath}`,
  };
}

/** Why a key that has ended is not let in. */
export function whyNotLetIn(ref: string, end: KeyEnd | undefined): Reason | undefined {
  if (end?.path === undefined) return undefined;
  return { message: `${quote(ref)} ${end.said}`, hint: `expect path: ${end.path}, or name another key` };
}

const rows: readonly Outcome[] = outcomes;

/** Why no answer has this status and this code together. */
export function whyNotTogether(
  status: number,
  code: string | null,
  { faultsArePossible, rateLimitCode }: { faultsArePossible: boolean; rateLimitCode: string },
): Reason | undefined {
  // The code of a 429 is an assumption; a fault can cut off the part of an answer that has the code.
  if (status === 429 || (code === null && faultsArePossible)) return undefined;
  const possible = codesOf(status);
  if (possible.length === 0 || possible.includes(code)) return undefined;
  const statuses = new Set(
    rows.filter((row) => row.code === code && row.status > 0).map((row) => row.status),
  );
  if (code === rateLimitCode) statuses.add(429);
  const [other] = [...statuses].filter((one) => code !== null && one !== status);
  return {
    message: `an answer with the status ${status} has the code ${listed(possible.map(String), "or")}, not ${code}`,
    hint: `write code: ${possible[0]}${other === undefined ? "" : `, or status: ${other}`}`,
  };
}

function codesOf(status: number): readonly (string | null)[] {
  // A success of an announced endpoint may have made something.
  if (status === 201) return [null];
  const failure = Object.entries(failures).find(([one]) => Number(one) === status)?.[1];
  // In the place of the API's error body a gateway may send a page.
  if (failure !== undefined) return [failure.code, null];
  return [...new Set(rows.filter((row) => row.status === status).map(({ code }) => code))];
}
