import { fingerprintOf } from "../domain/api-key.js";
import type { PathId } from "../domain/outcomes.js";
import { entryOf, type RequestNote } from "../sandbox/journal.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import { codeOf } from "./error-body.js";

/** A call that has begun: when, as which request, and whose key came with it. */
export interface BegunCall {
  /** On the stopwatch. */
  readonly started: number;
  /** On the sandbox's clock; read once: the gate decides, the counters count and the journal remembers at one instant. */
  readonly now: number;
  readonly number: number;
  readonly apiKey: string | undefined;
  readonly sha256: string;
  readonly entry: KeyEntry | undefined;
}

/** Begins a call: looks the key up and counts the request. */
export function beginCall(world: World, apiKey: string | undefined): BegunCall {
  const started = world.edge.stopwatch();
  const now = world.clock.now();
  // Hashed and looked up whatever was sent, so that the time taken does not tell the rejections apart (R14).
  const sha256 = world.edge.sha256(apiKey ?? "");
  const entry = world.registry.find(sha256);
  return { started, now, number: world.requestIds.next(), apiKey, sha256, entry };
}

/** Writes a call into the journal. The method and path must be fit to be shown (R46). */
export function recordCall(
  world: World,
  { started, now, number, apiKey, sha256, entry }: BegunCall,
  { method, path, pathId, status }: { method: string; path: string; pathId: PathId; status: number },
): void {
  const isStranger = entry === undefined && apiKey !== undefined;
  const note: RequestNote = {
    number,
    at: now,
    method,
    path,
    key: entry?.key,
    stranger: isStranger ? fingerprintOf(sha256) : null,
    status,
    code: codeOf(pathId, world.assumptions),
    pathId,
    durationMs: world.edge.stopwatch() - started,
  };
  world.journal.record(note);
  if (world.events.isHeard()) {
    world.events.announce({ type: "request", request: entryOf(note, world.requestIds.idOf) });
  }
}
