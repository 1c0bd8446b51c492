import { join } from "node:path";
import { stringify } from "yaml";
import type { Job } from "./job.js";
import type { Peer } from "./peer.js";

// A scenario file has 1 MiB and 250,000 pieces at most, for which 10,000 keys that are written out are too many.
const isLarge = ({ exchanges }: Job) => exchanges.length > 5000;

// docs/cli.md; docs/doors.md for the program.
export const sandbox: Peer = {
  name: "ours",
  title: "svc-sandbox",
  packages: [],
  setUp:
    "`svc-sandbox start job.yaml --log off`, everything else as it is by default: journal, report and control plane on, " +
    "usage and limits counted, a request id for each 200. **A scenario file cannot have 10,000 keys that are written out**: with so " +
    "many, a program starts it with `startServer({ scenario })`.",
  files: (job) =>
    isLarge(job)
      ? { "job.json": JSON.stringify(job.scenario) }
      : { "job.yaml": stringify(job.scenario, { aliasDuplicateObjects: false }) },
  start: ({ node, sandbox, programs, port }, job) => ({
    program: node,
    argv: isLarge(job)
      ? [join(programs, "svc-sandbox.js"), "job.json", String(port)]
      : [sandbox, "start", "job.yaml", "--port", String(port), "--log", "off"],
  }),
};
