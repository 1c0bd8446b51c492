import { afterAll, beforeAll, describe } from "vitest";
import type { SharedLog } from "../../../src/node/store/log.js";
import { readRedisAddress } from "../../../src/node/store/redis-address.js";
import { openRedisLog, type RedisLogOptions } from "../../../src/node/store/redis-log.js";
import { testSharedLog } from "../../support/log-behaviour.js";
import { noRedis, type RedisServer, startRedis } from "../../support/redis-server.js";
import { startProxy } from "../../support/tcp-proxy.js";

let redis: RedisServer;
let logs: SharedLog[] = [];

const openLog = async (port: number, options: Partial<RedisLogOptions> = {}) => {
  const address = readRedisAddress(`redis://127.0.0.1:${port}`);
  if (address === undefined) throw new Error("no address");
  const log = await openRedisLog({ address, timeout: 1000, founding: '{"scenario":"a"}', ...options });
  logs.push(log);
  return log;
};
const closeLogs = async () => {
  await Promise.all(logs.map((log) => log.close()));
  logs = [];
};

describe.skipIf(noRedis)("a log in Redis", () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  testSharedLog(async () => {
    await redis.command("FLUSHALL");
    const proxy = await startProxy(redis.port);
    return {
      open: () => openLog(proxy.port),
      cut: proxy.cut,
      mend: proxy.mend,
      lose: async () => void (await redis.command("FLUSHALL")),
      async end() {
        await closeLogs();
        proxy.close();
      },
    };
  });
});
