import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startClient, startServer } from "./children.js";
import { type Figure, figureOf } from "./figure.js";

/** The heap after a million requests, and after five, against the heap after a hundred thousand. */
export async function measureMemory({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const few = quick ? 10_000 : 100_000;
  const server = await startServer(bundle.server, node, { kind: "sandbox", keys: 10 }, ["--expose-gc"]);
  const client = startClient(bundle.client);
  const heapAfter = async (requests: number) => {
    await client.load({ port: server.port, connections: 32, keys: server.keys, requests });
    return server.heapUsed();
  };
  const early = await heapAfter(few);
  const late = await heapAfter(few * 9);
  const latest = await heapAfter(few * 40);
  await Promise.all([client.stop(), server.stop()]);
  const figure = (requests: number, heap: number) => {
    const name = `heap: after ${requests.toLocaleString("en")} requests / after ${few.toLocaleString("en")}`;
    return figureOf(name, [heap / early], { atMost: 1.05 });
  };
  return [figure(few * 10, late), figure(few * 50, latest)];
}
