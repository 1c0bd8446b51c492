import { pick } from "../../src/domain/seed.js";
import { type HostileGroup, keyedLines, often } from "./hostile-group.js";
import { controlPaths, oddAuthorities, oddHosts, oddTargets } from "./hostile-pieces.js";
import { once, request } from "./raw-requests.js";
import { mePath } from "./send.js";

/** Hostility in what a request asks for, by its name. */
export const hostileTargets: Readonly<Record<string, HostileGroup>> = {
  "absolute targets with odd authorities": {
    count: 240,
    hostile: (draw, key) =>
      once(
        request({
          line: `GET ${pick(draw, oddAuthorities)} HTTP/1.1`,
          host: pick(draw, oddHosts),
          key: key(),
        }),
      ),
  },
  "odd targets": {
    count: 300,
    hostile: (draw, key) =>
      once(
        request({
          line: `${pick(draw, ["GET", "HEAD", "POST"])} ${pick(draw, oddTargets)} HTTP/1.1`,
          key: key(),
        }),
      ),
  },
  "very long targets": {
    count: 100,
    hostile: (draw, key) =>
      once(
        request({
          line: `GET /${often(draw, pick(draw, ["a", "/", "%25", "%", "%2f..", "?", "SVC_test_", "svc_"]), 6000)} HTTP/1.1`,
          key: key(),
        }),
      ),
  },
  "keys where no key belongs": {
    count: 400,
    hostile(draw, key) {
      const plain = key();
      const spelled = pick(draw, [
        plain,
        plain.toUpperCase(),
        plain.toLowerCase(),
        plain.replaceAll("_", "%5f"),
        percentEncoded(plain, 0),
        percentEncoded(plain, 1),
        percentEncoded(plain, 2),
        `%53${plain.slice(1)}`,
        `%2553${plain.slice(1)}`,
      ]);
      const target = pick(draw, [
        `/${spelled}`,
        `${mePath}/${spelled}`,
        `${mePath}?key=${spelled}`,
        `/${spelled}/%`,
        `/%ff/${spelled}`,
        `/x?${spelled}`,
        `//${spelled}@x/`,
        `http://${spelled}/`,
        `http://x/${spelled}`,
        `/a${spelled}.json`,
        `/${spelled}/${spelled}`,
      ]);
      const line = `${pick(draw, ["GET", "GET", "POST", key()])} ${target} HTTP/1.1`;
      return once(request({ line, headers: keyedLines(draw, key), body: key() }));
    },
  },
  "the control plane": {
    count: 400,
    hostile(draw, key) {
      const path = pick(draw, [
        ...controlPaths,
        `/${key()}`,
        `/requests?${key()}=1`,
        `/requests?key=${key()}`,
        `/requests?path_id=${key()}`,
        `/${percentEncoded(key(), 0)}`,
      ]);
      const prefix = pick(draw, [
        "/__sandbox",
        "/__sandbox",
        "/__sandbox",
        "/__SANDBOX",
        "/__sandboxx",
        "/%5f_sandbox",
        "http://x/__sandbox",
      ]);
      return once(
        request({
          line: `${pick(draw, ["GET", "GET", "GET", "POST", "HEAD", "OPTIONS", "DELETE"])} ${prefix}${path} HTTP/1.1`,
          host: pick(draw, ["127.0.0.1", "localhost", "evil.example", ...oddHosts]),
          headers: pick(draw, [
            [],
            [`Origin: ${key()}`],
            ["Origin: null"],
            ["Sec-Fetch-Site: cross-site"],
            ["If-None-Match: *"],
            ["Content-Length: 3"],
            ["Range: bytes=0-0"],
          ]),
          key: key(),
        }),
        "listen",
      );
    },
  },
};

function percentEncoded(text: string, depth: number): string {
  const sign = `%${"25".repeat(depth)}`;
  return [...text].map((one) => sign + one.charCodeAt(0).toString(16)).join("");
}
