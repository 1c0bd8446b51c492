import { expect, test } from "vitest";
import { randomStream } from "../../../src/domain/seed.js";
import { conformanceCases } from "../../support/conformance-cases.js";
import { comparable, runSteps } from "../../support/conformance-script.js";
import { clientInProcess, openSandbox } from "../../support/doors.js";
import { createMemoryStore } from "../../support/memory-log.js";
import { operatedOver, type ReplicaServer, startReplica } from "../../support/replicas.js";
import type { Sent } from "../../support/send.js";
import { sendOnSocket } from "../../support/send-on-socket.js";

test.each(conformanceCases)("through three replicas in turn: $title", async ({ scenario, steps }) => {
  const stream = randomStream(1, "interleaving");
  const store = createMemoryStore({ time: Date.now, random: () => stream() / 2 ** 32 });
  const servers = await Promise.all([1, 2, 3].map(() => startReplica(store.open(), scenario)));
  try {
    let turn = 0;
    const next = () => {
      turn += 1;
      return servers[turn % servers.length] as ReplicaServer;
    };
    const send = (sent: Sent) => sendOnSocket(next().port)(sent);
    const [{ copy }] = servers as [ReplicaServer];
    const seen = await runSteps(
      operatedOver(() => next().controlUrl, copy),
      send,
      steps,
    );

    const sandbox = openSandbox(scenario);
    const { send: ask } = clientInProcess(sandbox);
    const expected = await runSteps(sandbox, ask, steps);
    expect(seen.map(comparable)).toEqual(expected.map(comparable));
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
});
