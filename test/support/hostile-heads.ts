import { pick } from "../../src/domain/seed.js";
import { below, type HostileGroup, keyedLines, often } from "./hostile-group.js";
import {
  oddChunks,
  oddCodings,
  oddExpectations,
  oddHosts,
  oddLengths,
  oddMethods,
  oddVersions,
} from "./hostile-pieces.js";
import { crlf, good, once, request } from "./raw-requests.js";
import { mePath } from "./send.js";

/** Hostility in the method, the version and the headers of a request, by its name. */
export const hostileHeads: Readonly<Record<string, HostileGroup>> = {
  "odd methods": {
    count: 260,
    hostile: (draw, key) =>
      once(
        request({
          line: `${pick(draw, oddMethods)} ${pick(draw, [mePath, "/", "/nothing"])} HTTP/1.1`,
          key: key(),
        }),
      ),
  },
  "odd hosts": {
    count: 260,
    hostile(draw, key) {
      const host = pick(draw, [...oddHosts, often(draw, "a", 9000)]);
      const headers = below(draw, 5) === 0 ? [`Host: ${pick(draw, oddHosts)}`] : [];
      return once(request({ host, headers, key: key() }));
    },
  },
  "odd HTTP versions": {
    count: 220,
    hostile: (draw, key) => once(request({ line: `GET ${mePath} ${pick(draw, oddVersions)}`, key: key() })),
  },
  "odd content lengths": {
    count: 260,
    hostile(draw, key) {
      const headers = [`Content-Length: ${pick(draw, oddLengths)}`];
      if (below(draw, 3) === 0) headers.push(`Content-Length: ${pick(draw, oddLengths)}`);
      const line = `${pick(draw, ["GET", "POST"])} ${mePath} HTTP/1.1`;
      return once(request({ line, headers, key: key(), body: often(draw, "x", 40) }));
    },
  },
  "odd transfer codings": {
    count: 220,
    hostile(draw, key) {
      const headers = [`Transfer-Encoding: ${pick(draw, oddCodings)}`];
      if (below(draw, 2) === 0) headers.push(`Content-Length: ${pick(draw, oddLengths)}`);
      return once(request({ headers, key: key(), body: pick(draw, oddChunks) + good(key()) }));
    },
  },
  "folded header lines": {
    count: 160,
    hostile: (draw, key) =>
      once(
        request({
          headers: [
            `X-Api-Key:${pick(draw, ["", " ", "\t"])}`,
            `${pick(draw, [" ", "\t", "  "])}${key()}`,
            `Folded: a${crlf} ${key()}`,
          ],
        }),
      ),
  },
  "2,500 headers": {
    count: 60,
    hostile(draw, key) {
      const headers = Array.from({ length: 2500 }, (_, i) => `H${i}: ${below(draw, 10)}`);
      headers.splice(below(draw, headers.length), 0, ...keyedLines(draw, key));
      return once(request({ headers }));
    },
  },
  "a header of 70 KB": {
    count: 60,
    hostile(draw, key) {
      const long = key() + "x".repeat(70_000);
      return once(
        request(
          pick(draw, [
            { key: long },
            { host: long },
            { line: `GET /${long} HTTP/1.1` },
            { headers: [`${long}: x`] },
          ]),
        ),
      );
    },
  },
  "odd expectations": {
    count: 200,
    hostile(draw, key) {
      const text = request({
        line: `${pick(draw, ["GET", "POST"])} ${mePath} HTTP/1.1`,
        headers: [`Expect: ${pick(draw, oddExpectations)}`, "Content-Length: 100"],
        key: key(),
      });
      return { chunks: [text, often(draw, "x", 90)], after: pick(draw, ["end", "reset", "end"]) };
    },
  },
};
