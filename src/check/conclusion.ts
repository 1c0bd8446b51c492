import type { CheckReport, Verdict } from "./report.js";

/** The verdicts as people read them. */
export const verdictWords: Readonly<Record<Verdict, string>> = {
  agrees: "agrees",
  differs: "differs",
  not_tried: "not tried",
};

/** What a check comes to, in a sentence. */
export function conclusion({ stopped, differences, paths }: CheckReport): string {
  if (stopped !== undefined) return stopped;
  const agreeing = paths.filter(({ verdict }) => verdict === "agrees").length;
  const counts = `${agreeing} of ${paths.length} paths agree, ${paths.filter(({ verdict }) => verdict === "not_tried").length} were not tried`;
  if (differences.length === 0) return `Nothing differs from the contract: ${counts}.`;
  return `${differences.length === 1 ? "1 difference" : `${differences.length} differences`} from the contract: ${counts}.`;
}
