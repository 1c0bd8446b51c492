import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";

/** An event as it came over the wire. */
export interface SeenEvent {
  readonly id: number;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  readonly data: any;
}

/** Somebody who listens to `/__sandbox/events`. */
export interface Subscriber {
  readonly status: number;
  readonly events: readonly SeenEvent[];
  /** All that came, as it came. */
  readonly text: () => string;
  /** Resolves once the events that have come are what is waited for; rejects when the stream ends before. */
  readonly until: (reached: (events: readonly SeenEvent[]) => boolean) => Promise<void>;
  /** Resolves when the server has ended the stream, with how. */
  readonly ended: Promise<"ended" | "cut off">;
  readonly leave: () => void;
}

/** Subscribes; resolves once the server has responded. `from` is the id of the last event that was seen. */
export function subscribe(
  url: string,
  { from, base = "", method = "GET" }: { from?: string | number; base?: string; method?: string } = {},
): Promise<Subscriber> {
  return new Promise((resolve, reject) => {
    const headers = from === undefined ? {} : { "last-event-id": String(from) };
    const asking = httpRequest(
      `${url}${base}/__sandbox/events`,
      { method, headers, agent: false },
      (response) => resolve(listenTo(asking, response)),
    );
    asking.on("error", reject).end();
    onTestFinished(() => void asking.destroy());
  });
}

function listenTo(asking: ClientRequest, response: IncomingMessage): Subscriber {
  const events: SeenEvent[] = [];
  let text = "";
  let unread = "";
  response.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const blocks = (unread + chunk).split("\n\n");
    unread = blocks.pop() as string;
    for (const block of blocks) if (block.startsWith("id: ")) events.push(eventOf(block));
  });
  response.on("error", () => {});
  asking.on("error", () => {});
  const ended = new Promise<"ended" | "cut off">((resolve) => {
    response.once("close", () => resolve(response.complete ? "ended" : "cut off"));
  });
  return {
    status: response.statusCode ?? 0,
    events,
    text: () => text,
    ended,
    leave: () => void asking.destroy(),
    async until(reached) {
      const late = () => Promise.reject(new Error(`after ${events.length} events, not what was waited for`));
      const over = ended.then(() => reached(events) || late());
      while (!reached(events))
        await Promise.race([new Promise((resolve) => response.once("data", resolve)), over]);
    },
  };
}

function eventOf(block: string): SeenEvent {
  const [id, event, data] = block.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
  return { id: Number(id), event: event as string, data: JSON.parse(data as string) };
}

/** For `until`: so many events have come. */
export const count = (wanted: number) => (events: readonly SeenEvent[]) => events.length >= wanted;
export const names = ({ events }: Subscriber) => events.map(({ event }) => event);
export const ids = ({ events }: Subscriber) => events.map(({ id }) => id);
export const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
