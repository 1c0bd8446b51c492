import { getResponse, HttpResponse, http } from "msw";
import { createSandbox } from "../src/index.js";
import { bundledScenarios } from "../src/scenario/bundled.js";
import type { LibraryOrder, LibraryReading } from "./messages.js";

const url = "https://api.example/v1/relying-party/me";
// A sandbox makes nothing of the story until somebody tells it.
const scenario = bundledScenarios["key-states"];
const body = { data: { environment: "test", usage: { today: 1 } } };

/** Microseconds that one call takes, when it is made again and again. */
async function microseconds(calls: number, call: () => unknown): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < calls; i++) await call();
  return ((performance.now() - started) * 1000) / calls;
}

/** Bytes that each of many takes, after a full collection. */
function bytesEach(count: number, make: () => unknown): number {
  if (globalThis.gc === undefined) throw new Error("the program was started without --expose-gc");
  const before = memoryUsed();
  const kept = Array.from({ length: count }, make);
  const bytes = memoryUsed() - before;
  return bytes / kept.length;
}

function memoryUsed(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function measure({ calls, sandboxes }: LibraryOrder): Promise<LibraryReading> {
  const sandbox = createSandbox({ scenario: limitless() });
  const handler = http.get(url, () => HttpResponse.json(body));
  const key = sandbox.secret("main");
  // A new request each time on both sides, as a client under test makes one.
  const request = () => new Request(url, { headers: { "x-api-key": key } });
  return {
    fetch: await microseconds(calls, () => sandbox.fetch(request())),
    trivialHandler: await microseconds(calls, () => getResponse([handler], request())),
    create: await microseconds(calls / 10, () => createSandbox()),
    reset: await microseconds(calls / 10, () => sandboxToReset.reset()),
    clone: await microseconds(calls / 10, () => structuredClone(scenario)),
    bytesOfSandbox: bytesEach(sandboxes, () => createSandbox()),
    bytesOfClone: bytesEach(sandboxes, () => structuredClone(scenario)),
  };
}

const sandboxToReset = createSandbox();

// No answer is a refusal, however many there are.
function limitless() {
  const limits = { per_minute: 1e9, per_day: 1e9 };
  return {
    version: 1,
    organizations: { bank: { type: "bank", keys: { main: { environment: "test", limits } } } },
  } as const;
}

process.on("message", (order: LibraryOrder) => {
  measure(order).then((reading) => process.send?.(reading));
});
