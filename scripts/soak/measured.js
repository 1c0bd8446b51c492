// Loaded into the measured server before its own code: sends its memory after a collection.
process.on("message", async () => {
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ heap: heapUsed + external, rss });
});
// A possible question keeps no process alive, and no server outlives the soak.
process.on("disconnect", () => process.exit());
process.channel.unref();
