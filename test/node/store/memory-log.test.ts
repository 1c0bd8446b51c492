import { randomStream } from "../../../src/domain/seed.js";
import type { SharedLog } from "../../../src/log/replica/shared-log.js";
import { testSharedLog } from "../../support/log-behaviour.js";
import { createMemoryStore } from "../../support/memory-log.js";

let runs = 0;

testSharedLog(() => {
  runs += 1;
  const stream = randomStream(runs, "interleaving");
  const store = createMemoryStore({ time: Date.now, random: () => stream() / 2 ** 32 });
  const opened: SharedLog[] = [];
  return {
    ...store,
    open() {
      const log = store.open();
      opened.push(log);
      return log;
    },
    async end() {
      for (const log of opened) await log.close();
    },
  };
});
