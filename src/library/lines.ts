import { callLine, type Heard, type Line, tell, unknownLine } from "../sandbox/conduct-heard.js";
import type { World } from "../sandbox/world.js";
import { isInMiddleware } from "./web-response.js";

/** What a web request came on: a call of this process, or by way of a server or a service worker, which say no more. */
export function lineOf(request: Request): Line {
  return isInMiddleware(request) || request.referrer?.startsWith("http") ? unknownLine() : callLine;
}

/** Tells what a client learns from a response once it has been handed out; never when a promise of one is rejected. */
export function tellSoon(
  lesson: Heard,
  response: Response | Promise<Response> | undefined,
  { platform }: World,
): void {
  // In another turn also where the response is there already: calls that were begun together have not heard of it.
  Promise.resolve(response).then(
    () => tell(lesson, platform.stopwatch()),
    () => {},
  );
}
