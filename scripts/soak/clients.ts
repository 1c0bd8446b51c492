import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { pick, type RandomStream } from "../../src/domain/seed.js";
import { exchange } from "../../test/support/exchange.js";
import { requestText } from "../../test/support/hostile-requests.js";
import { converse, type RawAnswer, readAnswers } from "../../test/support/raw-socket.js";
import { below, type Work, type Worker } from "./worker.js";
import { faultyKey, steadyKeys } from "./world.js";

/** Longer than anything here may take on a machine with other work. */
export const patience = 30_000;

const mePath = "/v1/relying-party/me";

/** A request of which the answer can be told from all others. */
export interface Paired {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether an answer is the one to this request. */
  readonly isOwn: (status: number, body: string) => boolean;
}

let number = 0;

/** The next request of a good client: with any of the steady keys, to a handler, or to a path that there is not. */
export function pairedRequest({ draw, product }: Pick<Worker, "draw" | "product">): Paired {
  number += 1;
  const id = String(number);
  const kind = below(draw, 10);
  if (kind < 6) {
    const { ref, perMinute } = pick(draw, steadyKeys);
    const isOwn = (status: number, body: string) =>
      status === 200 && JSON.parse(body).data.limits.per_minute === perMinute;
    return { method: "GET", path: mePath, headers: { "x-api-key": product.keys[ref] as string }, isOwn };
  }
  if (kind === 6) {
    const isOwn = (status: number, body: string) =>
      status === 404 && JSON.parse(body).error.code === "not_found";
    return { method: "GET", path: `/v1/${id}`, headers: {}, isOwn };
  }
  const place = kind === 9 ? "late" : "echo";
  const text = id.repeat(1 + below(draw, 400));
  return {
    method: "POST",
    path: `/${place}/${id}`,
    headers: { "content-type": "text/plain" },
    body: text,
    isOwn(status, body) {
      const told = JSON.parse(body);
      return status === 200 && told.echo === id && told.text === text;
    },
  };
}

/** Whether the answer belongs to the request; it is none when it is not JSON either. */
export function isPaired(paired: Paired, { status, body }: Pick<RawAnswer, "status" | "body">): boolean {
  try {
    return paired.isOwn(status, body);
  } catch {
    return false;
  }
}

/** The request as bytes. */
export function textOf({ method, path, headers, body }: Paired, last = false): string {
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const close = last ? ["Connection: close"] : [];
  const line = `${method} ${path} HTTP/1.1`;
  return requestText({ line, headers: [...lines, ...length, ...close], body: body ?? "" });
}

/** A text in pieces of any size. */
export function fragments(draw: RandomStream, text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + below(draw, below(draw, 4) === 0 ? 12 : text.length);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

export function agentOf({ ca }: Worker["product"]): Agent {
  // Shorter than the server keeps a connection: who sends at the instant at which it closes gets no answer.
  const options = { keepAlive: true, maxSockets: 4, timeout: 3000 };
  return ca === undefined ? new Agent(options) : new TlsAgent({ ...options, ca });
}

/** Asks on connections that stay open, several requests at a time. */
export const keepAliveClient: Work = (worker) => {
  const { product, figures, draw } = worker;
  const agent = agentOf(product);
  const ask = async () => {
    const paired = pairedRequest(worker);
    const signal = AbortSignal.timeout(patience);
    const answer = await exchange(product.url + paired.path, { ...paired, agent, signal });
    figures.count("requests");
    if (!isPaired(paired, { status: answer.status, body: answer.bytes.toString() }))
      figures.fail("an answer was not that to its request", `${answer.status} ${answer.bytes}`);
  };
  return {
    step: async () => void (await Promise.all(Array.from({ length: 1 + below(draw, 12) }, ask))),
    leave: () => agent.destroy(),
  };
};

/** Asks with `fetch`, which has no certificate to trust. */
export const fetchClient: Work = (worker) => {
  const { product, figures } = worker;
  return {
    async step() {
      const { path, method, headers, body = null, isOwn } = pairedRequest(worker);
      const signal = AbortSignal.timeout(patience);
      const response = await fetch(product.url + path, { method, headers, body, signal });
      figures.count("requests");
      const text = await response.text();
      if (!isOwn(response.status, text))
        figures.fail("an answer was not that to its request", `${response.status} ${text}`);
    },
  };
};

/** Sends many requests at once on one connection, in pieces of any size; the server closes it behind the last answer. */
export const pipeliningClient: Work = (worker) => {
  const { product, figures, draw } = worker;
  return {
    async step() {
      const all = Array.from({ length: 1 + below(draw, 20) }, () => pairedRequest(worker));
      const text = all.map((paired, index) => textOf(paired, index === all.length - 1)).join("");
      const sending = { chunks: fragments(draw, text), after: "stay" } as const;
      const answers = readAnswers(await converse(product.port, sending, product.ca));
      figures.count("requests", all.length);
      if (answers.length !== all.length)
        figures.fail("a pipeline was not answered as a whole", `${answers.length} of ${all.length}`);
      for (const [index, answer] of answers.entries()) {
        if (!isPaired(all[index] as Paired, answer))
          figures.fail("an answer in a pipeline was not that to its request", answer.head + answer.body);
      }
    },
  };
};

/** Sends with the key that meets faults: whatever comes, or nothing. */
export const unluckyClient: Work = ({ product, figures }) => {
  const agent = agentOf(product);
  const headers = { "x-api-key": product.keys[faultyKey] as string };
  return {
    async step() {
      const signal = AbortSignal.timeout(400);
      await exchange(product.url + mePath, { headers, agent, signal }).catch(() => {});
      figures.count("requests that may meet faults");
    },
    leave: () => agent.destroy(),
  };
};
