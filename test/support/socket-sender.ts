import type { SandboxState } from "../../src/sandbox/sandbox.js";
import type { StoryRequest, StoryResponse } from "../../src/sandbox/steps.js";
import { exchange } from "./exchange.js";
import { isOfTheConnection, textOf } from "./send.js";

/** Sends the requests of a world's story to the server of that world, one connection each; the journal tells the paths. */
export function socketSender(port: number, world: SandboxState) {
  return async ({ method, path, headers, body }: StoryRequest): Promise<StoryResponse> => {
    const gaveUp = new AbortController();
    // A client with a time limit gives up some time; this one knows at once that nothing will come.
    const unsubscribe = world.history.subscribe((event) => {
      if (event.type === "request" && event.exchange.fault === "fault.hang") gaveUp.abort();
    });
    const sent = { method, path, headers, ...(body !== undefined && { body }) };
    const got = await exchange(`http://127.0.0.1:${port}`, { ...sent, signal: gaveUp.signal, partly: true })
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNRESET" || gaveUp.signal.aborted) return undefined;
        throw error;
      })
      .finally(unsubscribe);
    const [entry] = world.history.requests({ limit: 1 });
    if (entry === undefined) throw new Error("the request is not in the journal");
    const own = Object.entries(got?.headers ?? {}).filter(([name]) => !isOfTheConnection(name));
    return {
      status: got?.status ?? 0,
      headers: Object.fromEntries(own.map(([name, value]) => [name, String(value)])),
      body: got === undefined ? "" : textOf(got.bytes),
      pathId: entry.pathId,
      fault: entry.fault,
    };
  };
}
