import { instanceId, serverPage } from "../control/call.js";
import { useResources } from "../control/resource.js";
import { assumptions, clock, faults } from "../control/resources.js";
import { counted } from "../elements/words.js";
import { linkTo } from "../route.js";
import { actor } from "../views/keys/actor.js";

/** The settings that make responses differ from a plain sandbox, each with a link to change it. */
export function Chips() {
  // The header keeps the clock up to date.
  useResources(assumptions, faults);
  const { profile = "minimal" } = assumptions.data.value ?? {};
  const active = faults.data.value?.length ?? 0;
  const chips = [
    active > 0 && { words: `${counted(active, "fault")} active`, to: linkTo("faults"), kind: "fault" },
    profile !== "minimal" && { words: `profile ${profile}`, to: linkTo("faults"), kind: "access" },
    instanceId !== undefined && {
      words: `instance ${instanceId}`,
      to: serverPage + linkTo("instances"),
      kind: "other",
    },
    actor.value === "member" && { words: "acting as member", to: linkTo("keys"), kind: "key" },
    clock.data.value?.frozen === true && { words: "clock frozen", to: linkTo("time"), kind: "limit" },
  ].filter((chip) => chip !== false);
  if (chips.length === 0) return null;
  return (
    <ul class="chips" aria-label="Active settings">
      {chips.map(({ words, to, kind }) => (
        <li key={kind}>
          <a class={`badge tone-${kind}`} href={to}>
            {words}
          </a>
        </li>
      ))}
    </ul>
  );
}
