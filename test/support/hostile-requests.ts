import type { HostileGroup } from "./hostile-group.js";
import { hostileHeads } from "./hostile-heads.js";
import { hostileStreams } from "./hostile-streams.js";
import { hostileTargets } from "./hostile-targets.js";

/** Every kind of hostility, by its name. */
export const hostileGroups: Readonly<Record<string, HostileGroup>> = {
  ...hostileHeads,
  ...hostileTargets,
  ...hostileStreams,
};
