import { effect, signal } from "@preact/signals";
import { ControlError, fetchControl, needsToken, notify, type ServerEvent } from "./call.js";

/** Whether the page is up to date: `waiting` at first, and while the server is down. */
export const connection = signal<"waiting" | "open">("waiting");

/** Whether the sandbox has stopped responding, so that no button can call it. */
export const isOffline = signal(false);

/** Why the server has no sandbox at this address; `undefined` while it has one. */
export const whyGone = signal<string | undefined>(undefined);

/** Why the server rejects every request although it responds, such as a store that it cannot reach. */
export const storeProblem = signal<string | undefined>(undefined);

const gone =
  "This address no longer has a sandbox. An instance ends when it is removed, expires, stays idle for too long, or when its server stops.";

/** A browser opens six connections to a host, which all tabs share, also those of instances. The others are for calls. */
const maxStreams = 3;

/** In milliseconds: until a page without a stream reads everything again. */
const pauseBetweenReadings = 3000;

/** In milliseconds. Each pause after a failure is twice as long as the one before. */
const [firstPause, longestPause] = [1000, 30_000];

function setOpen(problem: string | undefined): void {
  whyGone.value = undefined;
  storeProblem.value = problem;
  isOffline.value = problem !== undefined;
  connection.value = problem === undefined ? "open" : "waiting";
  if (problem === undefined) notify([{ type: "gap", data: {} }]);
}

function noteWhy(error: unknown): void {
  const isGone = error instanceof ControlError && error.code.endsWith("not_found");
  whyGone.value = isGone ? (error.isEnded ? error.message : gone) : undefined;
}

export function followEvents(): void {
  // Runs again when a token is entered.
  effect(() => {
    if (!needsToken.value) void keepFollowing();
  });
}

async function keepFollowing(): Promise<void> {
  let wait = firstPause;
  while (!needsToken.peek()) {
    await visible();
    try {
      const how = await takeStream();
      wait = firstPause;
      if (how === "left") continue;
      if (how === "busy") {
        await readAgain();
        await pause(pauseBetweenReadings);
        continue;
      }
    } catch (error) {
      noteWhy(error);
    }
    // The reason is known before the page shows that the stream has ended.
    if (connection.peek() === "open")
      await fetchControl("/health", { signal: AbortSignal.timeout(firstPause) }).catch(noteWhy);
    storeProblem.value = undefined;
    connection.value = "waiting";
    isOffline.value = !needsToken.peek();
    await pause(wait);
    wait = Math.min(longestPause, wait * 2);
  }
}

async function visible(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

/** Ends early when somebody comes back to the page, or asks for it by `tryNow`. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = () => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    for (const name of ["focus", "online", "try-now"]) addEventListener(name, end, { signal: over.signal });
    document.addEventListener("visibilitychange", end, { signal: over.signal });
  });
}

export const tryNow = () => dispatchEvent(new Event("try-now"));

/** How following a stream ended: other pages have all streams, the page was hidden, or the server ended it. */
type Followed = "busy" | "left" | "ended";

async function takeStream(): Promise<Followed> {
  // Only secure addresses have locks. On others, hidden pages have no stream either.
  if (navigator.locks === undefined) return readStream();
  for (let number = 1; number <= maxStreams; number++) {
    const options = { ifAvailable: true };
    const followed: Followed = await navigator.locks.request(
      `svc-sandbox events ${number}`,
      options,
      (lock) => (lock === null ? "busy" : readStream()),
    );
    if (followed !== "busy") return followed;
  }
  return "busy";
}

async function readAgain(): Promise<void> {
  const problem = await fetchControl("/ready", { signal: AbortSignal.timeout(longestSilence) }).then(
    () => undefined,
    (error: ControlError) => {
      if (error.code === "not_ready") return error.message;
      throw error;
    },
  );
  setOpen(problem);
}

/** In milliseconds. The stream has a comment every five seconds, so a longer silence means that the server hangs or is unreachable. */
const longestSilence = 11_000;

async function readStream(): Promise<Followed> {
  const until = new AbortController();
  const leave = () => document.hidden && until.abort();
  document.addEventListener("visibilitychange", leave);
  try {
    // EventSource cannot send a token.
    const { body } = await fetchControl("/events", { signal: until.signal });
    setOpen(undefined);
    await readEvents(body as ReadableStream<Uint8Array>);
    return "ended";
  } catch (error) {
    if (until.signal.aborted) return "left";
    throw error;
  } finally {
    document.removeEventListener("visibilitychange", leave);
  }
}

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
    if (store !== undefined) setOpen(store.data.problem ?? undefined);
    if (events.length > 0) notify(events);
  }
}

function eventIn(block: string): ServerEvent[] {
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
