import { monitorEventLoopDelay } from "node:perf_hooks";

// Loaded into the server that is measured, before anything of its own: tells its memory after a collection when asked, and
// the longest time in which it did nothing else, in milliseconds.
const delay = monitorEventLoopDelay();
delay.enable();
process.on("message", async () => {
  const pause = delay.max / 1e6;
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ heap: heapUsed + external, rss, pause });
  delay.reset();
});
// A question that may come keeps no process alive, and none outlives the one who asks.
process.on("disconnect", () => process.exit());
process.channel.unref();
