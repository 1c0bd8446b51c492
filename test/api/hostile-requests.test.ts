import { afterAll, beforeAll, expect, test } from "vitest";
import { startInNode } from "../../src/node/platform.js";
import { pick, randomStream } from "../../src/rules/seed.js";
import type { Exchange } from "../../src/sandbox/journal/exchange.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretsByRef, secretToSend } from "../../src/sandbox/secrets.js";
import { resolveSource } from "../../src/scenario/scenario-source.js";
import { type RunningServer, serve } from "../../src/server/serve.js";
import {
  below,
  type HostileGroup,
  hostileGroups,
  hostileSending,
  requestText,
} from "../support/hostile-requests.js";
import { inParallel } from "../support/in-parallel.js";
import { isNightly } from "../support/property-seed.js";
import { converse, type RawResponse, type RawSending, readResponses } from "../support/raw-socket.js";

let sandbox: SandboxState;
let server: RunningServer;
let port: number;
const defects: unknown[] = [];
const journaled: Exchange[] = [];

beforeAll(async () => {
  sandbox = startInNode(resolveSource("key-states"));
  sandbox.journal.subscribe((event) => {
    if (event.type === "request") journaled.push(event.exchange);
  });
  server = await serve(sandbox, { port: 0, onDefect: (error) => defects.push(error) });
  port = Number(new URL(server.url).port);
});

afterAll(() => server.close(100));

test.each(Object.keys(hostileGroups))("R46 a hostile client gets no 5xx and no key: %s", async (name) => {
  const group = hostileGroups[name] as HostileGroup;
  const draw = randomStream(20260302, "hostile", name);
  const { live: _kept, ...secrets } = secretsByRef(sandbox);
  const sent: string[] = [];
  // Half of them work here, the other half look like keys of the real service.
  const key = () => {
    const made =
      below(draw, 2) === 0
        ? pick(draw, Object.values(secrets))
        : `SVC_live_${draw().toString(36)}${draw().toString(36)}R3aL`;
    sent.push(made);
    return made;
  };
  const count = isNightly ? group.count : Math.ceil(group.count / 4);
  const sendings = Array.from({ length: count }, () => hostileSending(group, draw, key));
  journaled.length = 0;
  const responses = await converseAll(sendings);

  // Who resets at once hears nothing.
  if (name !== "reset at once") expect(responses).not.toEqual([]);
  for (const response of responses) {
    expectDecent(response, name === "the control plane" || name === "absolute targets with odd authorities");
  }
  const shown = responses.map(({ head, body }) => head + body);
  const remembered = [...journaled, ...sandbox.journal.requests()].map((entry) => JSON.stringify(entry));
  expect(keysShown(sent, [...shown, ...remembered])).toEqual([]);
  expect(defects).toEqual([]);
  const [next] = readResponses(
    await converse(port, { chunks: [requestText({ key: secretToSend(sandbox, "live") })] }),
  );
  expect(next?.status).toBe(200);
});

test("R14 a key counts at any place among the headers, and so does a second key", async () => {
  const filler = Array.from({ length: 2500 }, (_, i) => `H${i}: x`);
  const live = secretToSend(sandbox, "live");
  const statusesOf = async (headers: string[]) =>
    readResponses(await converse(port, { chunks: [requestText({ headers })] })).map(({ status }) => status);
  expect(await statusesOf([...filler, `X-Api-Key: ${live}`])).toEqual([200]);
  expect(await statusesOf([`X-Api-Key: ${live}`, ...filler, "X-Api-Key: x"])).toEqual([401]);
});

// So many at a time that connections meet each other, so few that none waits long.
const atATime = 40;

async function converseAll(sendings: readonly RawSending[]): Promise<RawResponse[]> {
  const responses: RawResponse[] = [];
  await inParallel(sendings.length, atATime, async (index) => {
    responses.push(...readResponses(await converse(port, sendings[index] as RawSending)));
  });
  return responses;
}

function expectDecent({ status, head, body }: RawResponse, fromControl: boolean): void {
  expect(status, head).toBeLessThan(500);
  if (body === "" || (fromControl && body.startsWith("<!doctype html>"))) return;
  const parsed = JSON.parse(body) as Record<string, unknown>;
  if (fromControl && status === 200) return;
  if (status === 200) expect(Object.keys(parsed)).toEqual(["data"]);
  else {
    const { details: _details, ...error } = parsed.error as Record<string, unknown>;
    expect({ ...parsed, error }).toEqual({
      error: { code: expect.any(String), message: expect.any(String) },
    });
  }
}

/** The texts that show what follows the prefix of one of the keys, however it is spelled. */
function keysShown(keys: readonly string[], texts: readonly string[]): string[] {
  const bodies = [...new Set(keys.map((key) => key.replace(/^.*?_.*?_/, "").toLowerCase()))];
  return [...new Set(texts)].filter((text) => {
    const spelled = everySpelling(text);
    return bodies.some((body) => spelled.includes(body));
  });
}

/** A text as it is and percent-decoded, once and more often, all in lower case. */
function everySpelling(text: string): string {
  const spellings = [text];
  for (let i = 0; i < 4; i++) {
    const last = spellings[i] as string;
    spellings.push(
      last.replace(/%([0-7][0-9a-f])/gi, (_match, code) => String.fromCharCode(Number.parseInt(code, 16))),
    );
  }
  return spellings.join("\n").toLowerCase();
}
