export type VirtualTime = ReturnType<typeof createVirtualTime>;

interface Timer {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that passes only while everybody waits, so that nothing sleeps. `start`: epoch milliseconds of the wall clock. */
export function createVirtualTime(start: number) {
  let elapsed = 0;
  let faked = 0;
  const timers = new Set<Timer>();
  const nextTimer = () =>
    [...timers].reduce<Timer | undefined>(
      (first, timer) => (first && first.at <= timer.at ? first : timer),
      undefined,
    );
  return {
    stopwatch: () => elapsed,
    wall: () => start + elapsed + faked,
    /** Moves only the wall clock, as fake timers do. */
    fake(ms: number): void {
      faked += ms;
    },
    sleep(ms: number): Promise<void> {
      return new Promise((wake) => {
        timers.add({ at: elapsed + ms, wake });
      });
    },
    /** Lets time pass until the work is done; `undefined` if it is not done at the limit, which is read after each step. */
    async passWhile<Result>(work: Promise<Result>, limit: () => number): Promise<Result | undefined> {
      let end: { readonly result: Result } | { readonly error: unknown } | undefined;
      work.then(
        (result) => {
          end = { result };
        },
        (error) => {
          end = { error };
        },
      );
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        if (end !== undefined && "error" in end) throw end.error;
        if (end !== undefined) return end.result;
        const next = nextTimer();
        const last = limit();
        if (next === undefined || next.at > last) {
          elapsed = Math.max(elapsed, Math.min(last, next?.at ?? last));
          return undefined;
        }
        timers.delete(next);
        elapsed = Math.max(elapsed, next.at);
        next.wake();
      }
    },
  };
}
