/** Runs a number of jobs, at most so many of them in parallel; throws what the first failed one throws. */
export async function inParallel(count: number, atMost: number, run: (index: number) => Promise<unknown>) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atMost }, worker));
}
