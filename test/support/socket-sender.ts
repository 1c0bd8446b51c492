import { type IncomingMessage, request } from "node:http";
import type { StoryAnswer, StoryRequest } from "../../src/sandbox/story/story.js";
import type { World } from "../../src/sandbox/world.js";
import { isOfTheConnection, textOf } from "./send.js";

type Received = Pick<StoryAnswer, "status" | "headers" | "body">;

const nothing: Received = { status: 0, headers: {}, body: "" };

/** Sends the requests of a world's story to the server of that world, one connection each; the journal tells the paths. */
export function socketSender(port: number, world: World): (request: StoryRequest) => Promise<StoryAnswer> {
  return async (sent) => {
    const received = await exchange(port, world, sent);
    const [entry] = world.journal.list({ limit: 1 });
    if (entry === undefined) throw new Error("the request is not in the journal");
    return { ...received, pathId: entry.pathId, fault: entry.fault };
  };
}

function exchange(port: number, world: World, sent: StoryRequest): Promise<Received> {
  const { method, path, headers, body } = sent;
  const gaveUp = new AbortController();
  // A client with a time limit gives up some time; this one knows at once that nothing will come.
  const unsubscribe = world.events.subscribe((event) => {
    if (event.type === "request" && event.request.fault === "fault.hang") gaveUp.abort();
  });
  const exchanged = new Promise<Received>((resolve, reject) => {
    const sending = request(
      { host: "127.0.0.1", port, method, path, headers, agent: false, signal: gaveUp.signal },
      (response) => receive(response, resolve),
    );
    sending.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET" || gaveUp.signal.aborted) resolve(nothing);
      else reject(error);
    });
    sending.end(body);
  });
  return exchanged.finally(unsubscribe);
}

function receive(response: IncomingMessage, resolve: (received: Received) => void): void {
  const chunks: Buffer[] = [];
  response.on("data", (chunk) => chunks.push(chunk));
  // The body of a fault may end too early; what came before that still counts.
  response.on("error", () => {});
  response.on("close", () =>
    resolve({
      status: response.statusCode ?? 0,
      headers: headersOf(response),
      body: textOf(Buffer.concat(chunks)),
    }),
  );
}

function headersOf({ headersDistinct }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersDistinct)
      .filter(([name]) => !isOfTheConnection(name))
      .map(([name, values]) => [name, (values ?? []).join(", ")]),
  );
}
