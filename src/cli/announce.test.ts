import { expect, test } from "vitest";
import { noteRefusedPort } from "./announce.js";

/** The notes about a port. */
function notesOf(port: number): string[] {
  const notes: string[] = [];
  noteRefusedPort({ url: `http://127.0.0.1:${port}` }, { note: (text) => void notes.push(text) });
  return notes;
}

/** Why `fetch` fails, if it does. */
async function failureOf(port: number): Promise<string> {
  const stop = AbortSignal.timeout(50);
  const error = await fetch(`http://127.0.0.1:${port}`, { signal: stop }).catch((cause) => cause);
  return String(error.cause?.message ?? error.name);
}

test("the ports with a note are those that fetch refuses", async () => {
  const ports = Array.from({ length: 11_000 }, (_, index) => index + 1);
  const noted = ports.filter((port) => notesOf(port).length === 1);
  expect(noted).toContain(6000);
  expect(new Set(await Promise.all(noted.map(failureOf)))).toEqual(new Set(["bad port"]));

  const neighbors = noted.map((port) => port + 1).filter((port) => !noted.includes(port));
  expect(await Promise.all(neighbors.map(failureOf))).not.toContain("bad port");
});
