import { useEffect, useRef } from "preact/hooks";
import { listen } from "../../control/call.js";
import { toneOf } from "../../elements/traffic/path-badge.js";

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** A dot that moves like the newest request: down to its check, then to its outcome. One dot at a time. */
export function Traveller() {
  const dot = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    // The path was computed for the old width.
    const stop = () => {
      for (const animation of dot.current?.getAnimations() ?? []) animation.cancel();
    };
    addEventListener("resize", stop);
    const stopListening = listen((events) => {
      const newest = events.findLast(({ type }) => type === "request")?.data;
      const element = dot.current;
      if (newest === undefined || element === null) return;
      if (stillness.matches || document.hidden || element.getAnimations().length > 0) return;
      element.className = `traveller tone-${toneOf(newest.path_id)}`;
      const way = wayTo(newest.path_id, element.closest<HTMLElement>(".gate-way") as HTMLElement);
      element.animate(way, { duration: 900, easing: "ease-in-out" });
    });
    return () => {
      stopListening();
      removeEventListener("resize", stop);
    };
  }, []);
  return (
    <div class="traveller-way" aria-hidden="true">
      <span class="traveller" ref={dot} />
    </div>
  );
}

/** From the first check to the check of a path, then to its outcome. */
function wayTo(pathId: string, gate: HTMLElement): Keyframe[] {
  const exit = gate.querySelector<HTMLElement>(`[data-path="${CSS.escape(pathId)}"]`);
  const mark = exit?.closest(".stage")?.querySelector<HTMLElement>(".trunk-mark");
  if (!exit || !mark) return [];
  const { left, top } = gate.getBoundingClientRect();
  const at = (element: HTMLElement, opacity: number, offset: number): Keyframe => {
    const box = element.getBoundingClientRect();
    const x = box.left + Math.min(box.width / 2, 12) - left;
    return { translate: `${x}px ${box.top + box.height / 2 - top}px`, opacity, offset };
  };
  const start = gate.querySelector<HTMLElement>(".trunk-mark") ?? mark;
  return [at(start, 1, 0), at(mark, 1, 0.6), at(exit, 1, 0.9), at(exit, 0, 1)];
}
