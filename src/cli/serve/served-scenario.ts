import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { LoadedScenario } from "../../scenario/parse-scenario.js";

/** The scenario of a server: another one after each reload. */
export class ServedScenario {
  #loaded: LoadedScenario;
  #places: OpenedScenario["places"] | undefined;

  /** A scenario of another process comes without places. */
  constructor(loaded: LoadedScenario, places?: OpenedScenario["places"]) {
    this.#loaded = loaded;
    this.#places = places;
  }

  get loaded(): LoadedScenario {
    return this.#loaded;
  }

  replace({ loaded, places }: OpenedScenario): void {
    this.#loaded = loaded;
    this.#places = places;
  }

  /** The places of its fields if it has any, once: a server runs for long, and those of a large text take much memory. */
  takePlaces(): OpenedScenario["places"] | undefined {
    const places = this.#places;
    this.#places = undefined;
    return places;
  }
}
