import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { Request } from "./answers.js";
import { call, listen } from "./call.js";
import { connection } from "./events.js";

/** The requests that the page knows, oldest first. The journal has the same maximum. */
export const requests = signal<readonly Request[]>([]);

const most = 1000;

let arrived: Request[] = [];
let isDrawing = false;

/** Keeps `requests` up to date while its only view is shown. It changes at most ten times a second. */
export function useRequests(): void {
  useLayoutEffect(() => {
    if (connection.peek() === "open") void readSoon();
    return followRequests();
  }, []);
}

function followRequests(): () => void {
  return listen((events) => {
    for (const { type, data } of events) {
      if (type === "request") arrived.push(data);
      else if (type === "requests.cleared" || type.startsWith("world.")) forget();
      else if (type === "gap" || type === "requests.lost") void readSoon();
    }
    if (arrived.length > most) arrived = arrived.slice(-most);
    if (arrived.length > 0) draw();
  });
}

function forget(): void {
  arrived = [];
  requests.value = [];
}

// During a flood, events repeatedly report missing requests.
const pauseBetweenReadings = 1000;

let isReading = false;
let isStale = false;

async function readSoon(): Promise<void> {
  isStale = true;
  if (isReading) return;
  isReading = true;
  while (isStale) {
    isStale = false;
    await readAll();
    await new Promise((resolve) => setTimeout(resolve, pauseBetweenReadings));
  }
  isReading = false;
}

async function readAll(): Promise<void> {
  const all = await call<readonly Request[]>("/requests").catch(() => undefined);
  if (all === undefined) return;
  requests.value = all;
  if (arrived.length > 0) draw();
}

// Nobody can follow single requests of a flood, and drawing them takes time from the sandbox.
const pauseBetweenDrawings = 100;

let drawnAt = Number.NEGATIVE_INFINITY;

function draw(): void {
  if (isDrawing) return;
  isDrawing = true;
  const show = () => {
    isDrawing = false;
    drawnAt = performance.now();
    // The event of a request may come before or after a reading that contains it.
    const known = new Set(requests.value.map(({ id }) => id));
    requests.value = [...requests.value, ...arrived.filter(({ id }) => !known.has(id))].slice(-most);
    arrived = [];
  };
  const wait = Math.max(0, drawnAt + pauseBetweenDrawings - performance.now());
  setTimeout(() => requestAnimationFrame(show), wait);
}
