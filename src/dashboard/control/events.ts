import { effect, signal } from "@preact/signals";
import { ControlError, fetchControl, needsToken } from "./call.js";

/** An event of the sandbox, as `GET /events` tells it. */
export interface SandboxEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type has data of its own, described with the control plane
  readonly data: any;
}

/** Whether the page hears of what happens: `waiting` at first, and while the server is away. */
export const connection = signal<"waiting" | "open">("waiting");

/** Whether the server answers, but has no sandbox at this address: an instance that ended. */
export const isGone = signal(false);

type Listener = (events: readonly SandboxEvent[]) => void;

const listeners = new Set<Listener>();

/**
 * Calls the listener with everything that happens from now on, batch by batch; returns how to stop that.
 *
 * A batch begins with an event of the type `gap` when anything may have been missed before it: what was read then is to
 * be read again. `requests.lost` says that requests have come which are not told.
 */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(events: readonly SandboxEvent[]): void {
  for (const listener of listeners) listener(events);
}

/** Notifies listeners that the time of a change has come. The sandbox sends no event for it. */
export function notifyOfTime(): void {
  notify([{ type: "time.passed", data: {} }]);
}

const pauseBetweenTries = 1000;

/** Follows the events for as long as the page is open. */
export function followEvents(): void {
  const follow = async () => {
    // EventSource cannot send a token.
    const { body } = await fetchControl("/events");
    connection.value = "open";
    isGone.value = false;
    notify([{ type: "gap", data: {} }]);
    await readEvents(body as ReadableStream<Uint8Array>);
  };
  const keepFollowing = async () => {
    while (!needsToken.peek()) {
      await follow().catch((error: unknown) => {
        isGone.value = error instanceof ControlError && error.code.endsWith("not_found");
      });
      connection.value = "waiting";
      await new Promise((resolve) => setTimeout(resolve, pauseBetweenTries));
    }
  };
  // Runs again when a token is given.
  effect(() => {
    if (!needsToken.value) void keepFollowing();
  });
}

/** The stream has a comment every five seconds: after a longer silence the server hangs, or cannot be reached. */
const longestSilence = 11_000;

async function readEvents(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .getReader();
  let rest = "";
  for (;;) {
    const silence = setTimeout(() => void reader.cancel(), longestSilence);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() as string;
    const events = blocks.flatMap(eventIn);
    if (events.length > 0) notify(events);
  }
}

function eventIn(block: string): SandboxEvent[] {
  const field = (name: string) =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const type = field("event");
  const data = field("data");
  if (type === undefined || data === undefined) return [];
  // Of a flood of requests the sandbox tells a part.
  return [{ type: type === "events.lost" ? "requests.lost" : type, data: JSON.parse(data) }];
}
