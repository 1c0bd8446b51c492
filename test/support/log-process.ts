import { createInterface } from "node:readline";
import { readRedisAddress } from "../../src/log/redis/address.js";
import { openRedisLog } from "../../src/log/redis/redis-store.js";
import { foundedAt } from "./replicas.js";

// A replica in a process of its own: appends each line that it reads, and answers with the number of entries that it has
// then. An empty line is answered with the texts of all of them.

const address = readRedisAddress(process.argv[2] ?? "");
if (address === undefined) throw new Error("no URL");
const log = await openRedisLog({ address, founding: '{"scenario":"a"}', timeout: 2000, first: foundedAt });
const texts: string[] = [];
await log.follow({ start: () => void texts.splice(0), apply: ({ text }) => texts.push(text) });
const answer = (to: string, value: unknown) => process.stdout.write(`${JSON.stringify({ to, value })}\n`);
answer("ready", true);
for await (const line of createInterface(process.stdin)) {
  if (line === "") answer(line, texts);
  else {
    log.append(line).then(
      () => answer(line, texts.length),
      () => answer(line, "refused"),
    );
  }
}
await log.close();
