import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { request as requestTls } from "node:https";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { below, type Work, type Worker } from "./worker.js";

const eventsPath = "/__sandbox/events";

interface Stream {
  readonly asking: ClientRequest;
  readonly answer: IncomingMessage;
}

function open({ product }: Worker, last?: number): Promise<Stream> {
  const headers = last === undefined ? {} : { "last-event-id": String(last) };
  const options = { headers, agent: false as const, ca: product.ca };
  return new Promise((resolve, reject) => {
    const send = product.ca === undefined ? request : requestTls;
    const asking = send(`${product.url}${eventsPath}`, options, (answer) => {
      answer.on("error", () => {});
      resolve({ asking, answer });
    });
    asking.on("error", reject).end();
  });
}

/** Counts the events of a stream, looks for keys in them, and follows their numbers; returns how to tell the last one. */
function follow(
  { answer }: Stream,
  { figures, secrets }: Worker,
  from: number | undefined,
): () => number | undefined {
  let last = from;
  let unread = "";
  answer.setEncoding("utf8").on("data", (text: string) => {
    const blocks = (unread + text).split("\n\n");
    unread = blocks.pop() as string;
    if (secrets.isIn(blocks.join("\n"))) figures.fail("a key stood in an event");
    for (const block of blocks) {
      const [, id, event] = /^id: (\d+)\nevent: (\S+)/.exec(block) ?? [];
      if (id === undefined) continue;
      figures.count("events read");
      if (event === "world.started") figures.count("events of a new world");
      if (event !== "events.lost" && last !== undefined && Number(id) !== last + 1)
        figures.fail("an event was left out or came twice", `${last}, then ${id}`);
      last = Number(id);
    }
  });
  return () => last;
}

const until = (milliseconds: number, over: AbortSignal) =>
  sleep(milliseconds, undefined, { signal: over }).catch(() => {});

/** Reads all events, leaves now and then, and resumes where it was. */
export const fastReader: Work = (worker) => {
  let last: number | undefined;
  return {
    async step() {
      const stream = await open(worker, last);
      const lastOf = follow(stream, worker, last);
      worker.figures.count("event readers");
      await until(500 + below(worker.draw, 5000), worker.over);
      last = lastOf();
      stream.asking.destroy();
    },
  };
};

/** Reads, stops reading for a while, and reads on: it gets everything, or is cut off. */
export const slowReader: Work = (worker) => ({
  async step() {
    const stream = await open(worker);
    follow(stream, worker, undefined);
    worker.figures.count("event readers");
    for (let i = 0; i < 4 && !worker.over.aborted; i++) {
      stream.answer.pause();
      await until(below(worker.draw, 3000), worker.over);
      stream.answer.resume();
      await until(200, worker.over);
    }
    stream.asking.destroy();
  },
});

/** Subscribes, several times on one connection, and is gone. */
export const vanishingReader: Work = (worker) => {
  const { product, draw, figures, over } = worker;
  return {
    async step() {
      figures.count("event readers");
      if (product.ca !== undefined || below(draw, 2) === 0) {
        const { asking, answer } = await open(worker);
        if (below(draw, 2) === 0) answer.resume();
        await until(below(draw, 300), over);
        asking.destroy();
        return;
      }
      const socket = connect({ port: product.port, host: "127.0.0.1" }).on("error", () => {});
      socket.write(`GET ${eventsPath} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(1 + below(draw, 20)));
      await until(below(draw, 300), over);
      socket.resetAndDestroy();
    },
  };
};
