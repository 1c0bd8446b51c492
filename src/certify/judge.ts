import { adviceTable } from "../rules/advice.js";
import type { Profile } from "../rules/assumptions.js";
import { outcomeOf } from "../rules/outcomes.js";
import { judgeAnswers } from "./answers.js";
import type { Certification } from "./certificate.js";
import { Client } from "./client.js";
import { judgeFaults } from "./faults.js";
import {
  checkOf,
  type Finding,
  failed,
  findDependency,
  held,
  type Judgment,
  joined,
  judged,
  type Reason,
  whyUnstable,
  without,
} from "./judgment.js";
import { againOf, type CertifyPlan, whyNothingTried, whyTooLittle } from "./plan.js";
import { judgeAllResends } from "./resends.js";
import type { ClientRun, Tools } from "./run.js";
import { judgeVaried, runVaried } from "./varied.js";

/** Certifies a client: one plain run, and then what `only` asks for. */
export async function certify(plan: CertifyPlan, tools: Tools): Promise<Certification> {
  const client = new Client(plan, tools);
  const plain = await client.run("plain", {});
  const done = (seen: Judgment, unusable?: Reason): Certification => {
    const { all, isStopped } = client;
    return {
      ...seen,
      runs: all.length,
      plain,
      scenarios: [...new Set(all.flatMap(({ scenarios }) => scenarios))],
      isStopped,
      ...(unusable && { unusable }),
    };
  };
  if (plain === undefined) return done(joined([]));
  const unusable = await whyUnusable(plain, client);
  // A key in the output is a problem, whatever else cannot be judged.
  if (unusable !== undefined) return done(withoutHeld(judgeAdvice(client)), unusable);
  client.follow(plain);
  const [, answered, resent, faulty] = await Promise.all([
    runVaried(client),
    judgeAnswers(client),
    judgeAllResends(client),
    judgeFaults(client),
  ]);
  const caused = await judgeVaried(client);
  const { contradiction } = client;
  if (contradiction?.[0].isShared && !client.isStopped) {
    tools.separate(contradiction[0].name);
    const again = await certify(plan, tools);
    return { ...again, plain: again.plain ?? plain, runs: again.runs + client.all.length };
  }
  const advice = judgeAdvice(client);
  if (contradiction === undefined) {
    const seen = joined([advice, resent, caused, faulty, answered]);
    return done(seen, client.isStopped ? undefined : whyNothingTried(plan, seen.checks, plain.report));
  }
  // A failure shows nothing then, nor does what held because a run failed.
  const unstable = whyUnstable(...contradiction);
  const [noticed, failing] = [joined([resent, answered]), joined([caused, faulty])];
  const checks = [
    ...without("held", noticed.checks, unstable),
    ...without("failed", failing.checks, unstable),
  ];
  return done(joined([advice, { ...noticed, checks }, { notes: failing.notes }]), unstable);
}

const withoutHeld = (advice: Judgment) => (advice.problems.length > 0 ? advice : joined([]));

async function whyUnusable(plain: ClientRun, client: Client): Promise<Reason | undefined> {
  const { result, code, report, failure } = plain;
  if (result === "passed" || failure !== undefined)
    return result === "passed" ? whyTooLittle(report) : undefined;
  if (result === "timed_out") {
    const [most] = report.resends.toSorted((one, other) => other.count - one.count);
    const resent =
      most && most.count > 100
        ? `. It still resends \`${most.key ?? most.fingerprint}\` after ${outcomeOf(most.outcome).status} (${most.count} times)`
        : "";
    return {
      why: `the command does not end in time in the plain run${resent}`,
      whatToDo:
        "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.",
    };
  }
  const why = `the command fails in the plain run with exit code ${code}`;
  const again = async (profile: Profile, time: number) =>
    (await client.run("plain", { profile }, { time }))?.result === "passed";
  const first = {
    why,
    whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
  };
  for (let turn = 1; turn <= turnsOfTypical; turn++) {
    if (await again("minimal", turn + 1))
      return { why: `${why}, and passes when it runs again`, whatToDo: findDependency };
    if (await again("typical", turn)) continue;
    if (client.isStopped) return first;
    if (turn > 1)
      return { why: `${why}, and passes and fails with \`--profile typical\``, whatToDo: findDependency };
    return first;
  }
  return {
    why: `${why}, and passes with \`--profile typical\``,
    whatToDo:
      "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
  };
}

/** How often a plain run fails again and one with the profile `typical` passes before that is the reason: a command may fail at random. */
const turnsOfTypical = 4;

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
function judgeAdvice({ all, plan }: Client): Judgment {
  const problems = adviceTable.flatMap(({ id, level }): Finding[] => {
    const having = all.flatMap((run) => {
      const advice = run.report.advice.find((one) => one.id === id && one.count > 0);
      return level === "error" && advice !== undefined ? [{ run, ...advice }] : [];
    });
    const [first] = having;
    if (first === undefined) return [];
    const { run, meaning, whatToDo } = first;
    const sentence = `${meaning.replace(/\.$/, "")} (run ${run.name})`;
    const names = run.name === "plain" ? [run.name] : [...new Set(having.map((one) => one.run.name))];
    return [{ name: `advice.${id}`, sentence, whatToDo, again: againOf(run, plan), runs: names }];
  });
  if (problems.length === 0) return judged("advice", held);
  const checks = problems.map(({ name }) => checkOf(name, failed));
  return joined([{ checks, problems }]);
}
