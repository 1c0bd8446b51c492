import { expect, test } from "vitest";
import { noteRefusedPort, refusedPorts } from "./refused-ports.js";

/** Why `fetch` fails, if it does. */
async function failure(port: number): Promise<string> {
  const stop = AbortSignal.timeout(50);
  const error = await fetch(`http://127.0.0.1:${port}`, { signal: stop }).catch((cause) => cause);
  return String(error.cause?.message ?? error.name);
}

test("the ports are those that fetch refuses", async () => {
  const failures = await Promise.all(refusedPorts.map(failure));
  expect(new Set(failures)).toEqual(new Set(["bad port"]));
  const neighbors = refusedPorts.map((port) => port + 1).filter((port) => !refusedPorts.includes(port));
  expect(await Promise.all(neighbors.map(failure))).not.toContain("bad port");
});

test("a refused port is a note, and any other one is none", () => {
  const notes: string[] = [];
  const log = { note: (text: string) => void notes.push(text) };
  for (const port of [6000, 4747]) noteRefusedPort({ url: `http://127.0.0.1:${port}` }, log);
  expect(notes).toEqual([expect.stringContaining("refuses port 6000")]);
});
