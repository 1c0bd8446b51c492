import { join } from "node:path";
import { answersFile } from "./json-server.js";
import type { Peer } from "./peer.js";

// https://github.com/mswjs/http-middleware#readme: "Option 2: Middleware".
export const msw: Peer = {
  name: "msw",
  title: "msw behind Express",
  caveat: "a program of one's own",
  packages: ["msw", "@mswjs/http-middleware", "express"],
  setUp:
    "One handler (a program), which looks the answer up by the key in a `Map`, in Express with `@mswjs/http-middleware`.",
  files: ({ exchanges }) => ({ "answers.json": answersFile(exchanges) }),
  start: ({ node, programs, port }) => ({
    program: node,
    argv: [join(programs, "msw.js"), "answers.json", String(port)],
  }),
};
