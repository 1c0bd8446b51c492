import { effect, signal } from "@preact/signals";
import { ControlError, fetchControl, needsToken, notify, type SandboxEvent } from "./call.js";

/** Whether the page receives events: `waiting` at first, and while the server is down. */
export const connection = signal<"waiting" | "open">("waiting");

/** Whether the sandbox has stopped responding, so that no button can call it. */
export const isOffline = signal(false);

/** Why the server has no sandbox at this address; `undefined` while it has one. */
export const whyGone = signal<string | undefined>(undefined);

/** Why the server rejects every request although it responds, such as a store that it cannot reach. */
export const storeProblem = signal<string | undefined>(undefined);

const gone =
  "This address no longer has a sandbox. An instance ends when it is removed, expires, stays idle for too long, or when its server stops.";

const pauseBetweenTries = 1000;

function open(problem: string | undefined): void {
  storeProblem.value = problem;
  isOffline.value = problem !== undefined;
  connection.value = problem === undefined ? "open" : "waiting";
  if (problem === undefined) notify([{ type: "gap", data: {} }]);
}

export function followEvents(): void {
  const follow = async () => {
    // EventSource cannot send a token.
    const { body } = await fetchControl("/events");
    whyGone.value = undefined;
    open(undefined);
    await readEvents(body as ReadableStream<Uint8Array>);
  };
  const noteWhy = (error: unknown) => {
    const isGone = error instanceof ControlError && error.code.endsWith("not_found");
    whyGone.value = isGone ? (error.isEnded ? error.message : gone) : undefined;
  };
  const keepFollowing = async () => {
    while (!needsToken.peek()) {
      await follow().catch(noteWhy);
      // The reason is known before the page shows that the stream has ended.
      if (connection.peek() === "open") {
        await fetchControl("/health", { signal: AbortSignal.timeout(pauseBetweenTries) }).catch(noteWhy);
      }
      storeProblem.value = undefined;
      connection.value = "waiting";
      isOffline.value = !needsToken.peek();
      await new Promise((resolve) => setTimeout(resolve, pauseBetweenTries));
    }
  };
  // Runs again when a token is entered.
  effect(() => {
    if (!needsToken.value) void keepFollowing();
  });
}

/** In milliseconds. The stream has a comment every five seconds, so a longer silence means that the server hangs or is unreachable. */
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
    const store = events.findLast(({ type }) => type === "store.changed");
    if (store !== undefined) open(store.data.problem ?? undefined);
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
  // The sandbox leaves out some of many requests.
  return [{ type: type === "events.lost" ? "requests.lost" : type, data: JSON.parse(data) }];
}
