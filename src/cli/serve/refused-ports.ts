import type { Logger } from "../../node/logger.js";
import type { RunningServer } from "../../server/serve.js";

/** The ports that `fetch` refuses, in Node and in browsers: those of other protocols (https://fetch.spec.whatwg.org/#port-blocking). */
const refusedPorts: readonly number[] = [
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
];

/** Notes that many clients cannot reach the server, which listens nevertheless: curl can. */
export function noteRefusedPort({ url }: Pick<RunningServer, "url">, log: Pick<Logger, "note">): void {
  const port = Number(new URL(url).port);
  if (!refusedPorts.includes(port)) return;
  log.note(`fetch, in Node and in browsers, refuses port ${port} ("bad port"). Use another one with --port.`);
}
