import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startBin } from "../support/running-command.js";

// Linux tells how much memory a process ever had.
const peakMegabytes = (pid: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

test.runIf(process.platform === "linux")(
  "calls that come before the control plane is loaded pile up nowhere",
  async () => {
    const { child, until } = startBin(["--port", "0", "--json", "--log", "off"]);
    const { base_url } = JSON.parse(await until(/\n/));
    const call = "GET /__sandbox/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const flood = call.repeat(2_000_000 / call.length);
    const responses = Array.from({ length: 10 }, () => {
      const socket = connect(Number(new URL(base_url).port), "127.0.0.1", () => socket.write(flood));
      socket.on("error", () => {});
      onTestFinished(() => void socket.destroy());
      return new Promise((resolve) => socket.once("data", (data) => resolve(String(data).slice(0, 12))));
    });
    expect(await Promise.race(responses)).toBe("HTTP/1.1 200");
    // Each connection may have what comes in one piece; all of it would take more than a gigabyte.
    expect(peakMegabytes(child.pid as number)).toBeLessThan(700);
  },
);
