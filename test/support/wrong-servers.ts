import { expect } from "vitest";
import { type Misbehave, probeKeys, type Reply, serveProbed } from "./probed-server.js";
import { runCli } from "./run-cli.js";

/** What a server is wrong about, how, and what a check says of it. */
export type WrongServer = readonly [title: string, misbehave: Misbehave, says: RegExp];

// biome-ignore lint/suspicious/noExplicitAny: the bodies are made wrong here
export const data = (reply: Reply) => (reply.body as any).data;
// biome-ignore lint/suspicious/noExplicitAny: the bodies are made wrong here
export const error = (reply: Reply) => (reply.body as any).error;

/** Makes the answers to these refs wrong. */
export const to =
  (refs: string | readonly string[], change: Misbehave): Misbehave =>
  (reply, presented) =>
    refs.includes(presented.ref) ? change(reply, presented) : undefined;

/** What a check says of a difference: path, place, rules; what was expected; what was found. */
export function difference(where: string, expected: string, found: string): RegExp {
  const escaped = [where, expected, found].map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^  ${escaped[0]}.*\n    expected  ${escaped[1]}.*\n    found     ${escaped[2]}`, "m");
}

/** Checks a server of this kind, which is told what it is wrong about. */
export async function expectTold(...[_title, misbehave, says]: WrongServer): Promise<void> {
  const server = await serveProbed(misbehave);
  const argv = ["check", server.url, "--timeout", "250ms", "--max-requests", "12"];
  const { code, stdout, stderr } = await runCli(argv, { env: probeKeys });
  expect(stdout).toMatch(says);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
}
