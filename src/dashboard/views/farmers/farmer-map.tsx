import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { linkTo } from "../../route.js";
import { drawMap, type MapPlace, moved, placeOf, type Size, scaleBar, zoomed } from "./map-drawing.js";
import type { FarmerRow } from "./population.js";

const step = 2;

interface FarmerMapProps {
  readonly farmers: readonly FarmerRow[];
  /** The search that found them. Another one shows all its farmers again. */
  readonly search: string;
}

/** A map of the farmers, moved by pointer, keyboard and buttons. At first it shows all of these farmers. */
export function FarmerMap({ farmers, search }: FarmerMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  // The place after a move. Default: the place that shows all farmers.
  const wanted = useSignal<MapPlace | undefined>(undefined);
  const size = useSignal<Size>({ width: 0, height: 0 });
  const hovered = useSignal<readonly FarmerRow[]>([]);
  const points = useRef<readonly (readonly [number, number])[]>([]);
  const place = wanted.value ?? placeOf(farmers, size.value);

  useEffect(() => {
    wanted.value = undefined;
  }, [search]);
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    const measure = () => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // Another color scheme has other colors.
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", measure);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", measure);
    };
  }, []);
  useEffect(() => {
    const element = canvas.current;
    if (element === null || size.value.width === 0) return;
    const frame = requestAnimationFrame(() => {
      points.current = drawMap(element, place, farmers);
    });
    return () => cancelAnimationFrame(frame);
  }, [farmers, place.scale, ...place.center, size.value]);

  const go = (next: MapPlace) => {
    wanted.value = next;
  };
  const zoom = (factor: number, around?: readonly [number, number]) =>
    go(zoomed(place, size.value, factor, around));
  const move = (x: number, y: number) =>
    go(moved(place, size.value, (x * size.value.width) / 6, (y * size.value.height) / 6));
  const showAll = () => {
    wanted.value = undefined;
  };
  const near = (event: MouseEvent) => {
    const { x, y } = pointOf(event);
    return farmers.filter((_, index) => {
      const [left, top] = points.current[index] ?? [Number.NaN, Number.NaN];
      return Math.hypot(left - x, top - y) < 10;
    });
  };
  const open = (event: MouseEvent) => {
    const found = near(event);
    const { x, y } = pointOf(event);
    if (found.length === 1) location.hash = linkTo("farmers", [found[0]?.farmer_id as string]);
    else if (found.length > 1) zoom(4 * step, [x, y]);
  };
  const keys: Readonly<Record<string, () => void>> = {
    "+": () => zoom(step),
    "=": () => zoom(step),
    "-": () => zoom(1 / step),
    "0": showAll,
    ArrowLeft: () => move(-1, 0),
    ArrowRight: () => move(1, 0),
    ArrowUp: () => move(0, -1),
    ArrowDown: () => move(0, 1),
  };
  const bar = scaleBar(place, 120);
  return (
    <figure class="farmer-map">
      <div
        role="application"
        aria-label="Map of the farmers"
        aria-describedby="map-keys"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move the map
        tabIndex={0}
        onKeyDown={(event) => {
          const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
          if (act === undefined) return;
          event.preventDefault();
          act();
        }}
      >
        <canvas
          ref={canvas}
          class={hovered.value.length > 0 ? "over-farmers" : ""}
          {...useDrag({
            move: (byX, byY) => go(moved(place, size.value, -byX, -byY)),
            hover: (event) => {
              hovered.value = near(event);
            },
            click: open,
          })}
          onWheel={(event) => {
            // The wheel scrolls the page, unless the map has the focus.
            if (!event.ctrlKey && document.activeElement !== event.currentTarget.parentElement) return;
            event.preventDefault();
            const { x, y } = pointOf(event);
            zoom(2 ** (-event.deltaY / 200), [x, y]);
          }}
        />
        <span class="map-scale" style={{ width: `${bar.width}px` }}>
          {bar.text}
        </span>
      </div>
      <fieldset class="bar map-buttons" aria-label="Map view">
        <button type="button" class="quiet" aria-label="Zoom in" onClick={() => zoom(step)}>
          +
        </button>
        <button type="button" class="quiet" aria-label="Zoom out" onClick={() => zoom(1 / step)}>
          −
        </button>
        <button type="button" class="quiet" onClick={showAll}>
          Show all
        </button>
      </fieldset>
      <figcaption class="muted small" id="map-keys">
        {hovered.value.length > 0
          ? hoverText(hovered.value)
          : "Drag or use the arrow keys to move, + and − to zoom, 0 to show all. Click a farmer to open the record."}
      </figcaption>
    </figure>
  );
}

function hoverText(farmers: readonly FarmerRow[]): string {
  const [first] = farmers;
  if (first === undefined) return "";
  if (farmers.length > 1) return `${farmers.length.toLocaleString("en")} farmers: click to zoom in`;
  return `${first.name}, ${first.region}: ${first.farm_area_ha.toLocaleString("en")} ha, ${first.crops.join(", ")}`;
}

function pointOf(event: MouseEvent): { x: number; y: number } {
  const { left, top } = (event.currentTarget as Element).getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

interface DragHandlers {
  readonly move: (byX: number, byY: number) => void;
  readonly hover: (event: PointerEvent) => void;
  readonly click: (event: MouseEvent) => void;
}

/** The pointer events of a draggable element. A drag does not count as a click. */
function useDrag({ move, hover, click }: DragHandlers) {
  const last = useRef<{ x: number; y: number } | undefined>(undefined);
  const hasMoved = useRef(false);
  return {
    onPointerDown(event: PointerEvent) {
      last.current = { x: event.clientX, y: event.clientY };
      hasMoved.current = false;
    },
    onPointerMove(event: PointerEvent) {
      if (last.current === undefined) return hover(event);
      const byX = event.clientX - last.current.x;
      const byY = event.clientY - last.current.y;
      if (!hasMoved.current && Math.hypot(byX, byY) < 4) return;
      hasMoved.current = true;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      last.current = { x: event.clientX, y: event.clientY };
      move(byX, byY);
    },
    onPointerUp() {
      last.current = undefined;
    },
    onPointerLeave() {
      last.current = undefined;
    },
    onClick(event: MouseEvent) {
      if (!hasMoved.current) click(event);
    },
  };
}
