import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import {
  Account,
  accountLimits,
  createAccounts,
  instanceLimits,
  type LimitName,
  sentenceOf,
} from "./account.js";

/** An account on a clock that only the test moves. */
function accountAt(limits = {}) {
  const clock = { now: 0 };
  return {
    clock,
    account: new Account(
      accountLimits(limits),
      () => clock.now,
      () => clock.now,
    ),
  };
}

test("a minute starts with its first request, and a rejection shows the seconds until the next one", () => {
  const { clock, account } = accountAt();
  const request = (at: number, max?: number) => {
    clock.now = at;
    const excess = account.excess(max);
    if (excess === undefined) account.count(true);
    return excess?.retryAfter;
  };
  expect([request(5000, 2), request(15_000, 2), request(15_001, 2)]).toEqual([undefined, undefined, 50]);
  expect([request(64_999, 2), request(65_000, 2)]).toEqual([1, undefined]);
  for (let n = 0; n < 100; n += 1) expect(request(65_001)).toBeUndefined();
  expect(account.status()).toEqual({ calls: 101, processorMs: 0, bytesWaiting: 0 });
});

test("the time of nested work counts once, also if it throws", () => {
  const { clock, account } = accountAt({ time: 600 });
  const work = (ms: number) =>
    account.measure(() => {
      clock.now += ms;
    });
  account.measure(() => work(60));
  expect(() =>
    account.measure(() => {
      clock.now += 30;
      throw new Error("a defect");
    }),
  ).toThrow("a defect");
  expect([account.status().processorMs, account.excess()]).toEqual([90, undefined]);
});

test("a sixth of a minute's processor time may be used at once, and passing time pays for it", () => {
  const { clock, account } = accountAt({ time: 600 });
  account.count(false, 99);
  expect(account.excess()).toBeUndefined();
  account.count(false, 101);
  expect(account.excess()).toEqual({ limit: "time", amount: 200, max: 600, retryAfter: 10 });
  clock.now += 9999;
  expect(account.excess()?.retryAfter).toBe(1);
  clock.now += 2;
  expect(account.excess()).toBeUndefined();
  clock.now += 50_000;
  account.count(false, 99);
  expect([account.excess(), account.status().processorMs]).toEqual([undefined, 99]);
});

test("bytes wait until somebody has read them", () => {
  const { account } = accountAt({ waiting: 100 });
  const [read, gone] = [new EventEmitter(), new EventEmitter()];
  account.hold(read, 60);
  account.hold(gone, 40);
  expect(account.excess()).toMatchObject({ limit: "waiting", amount: 100 });
  for (const event of ["finish", "close"]) read.emit(event);
  expect([account.excess(), account.status().bytesWaiting]).toEqual([undefined, 40]);
  gone.emit("close");
  expect(account.status().bytesWaiting).toBe(0);
});

test("an IPv6 network is one sender, and an address of IPv4 is another", () => {
  const { ofSender } = createAccounts(accountLimits());
  expect(ofSender("2001:db8:0:1::a")).toBe(ofSender("2001:db8:0:1::b"));
  expect(ofSender("2001:db8:0:2::a")).not.toBe(ofSender("2001:db8:0:1::a"));
  expect(ofSender("::ffff:10.0.0.1")).not.toBe(ofSender("::ffff:10.0.0.2"));
});

test.each(Object.keys(instanceLimits) as LimitName[])(
  "a rejection by the limit %s has its numbers and the fix",
  (limit) => {
    const { usual: max } = instanceLimits[limit];
    expect(sentenceOf({ limit, amount: 1.5 * max, max })).toMatch(
      new RegExp(`has \\d.* its host allows \\d.* --instance-limit ${limit}=\\d`),
    );
  },
);
