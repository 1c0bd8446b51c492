import type { ComponentType } from "preact";
import { FaultsView } from "../views/faults/faults.js";
import { KeysView } from "../views/keys/keys-view.js";
import { OverviewView } from "../views/overview/overview-view.js";
import { RequestsView } from "../views/requests/requests-view.js";
import { ScenarioView } from "../views/scenario/scenario-view.js";
import { StoryView } from "../views/story/story-view.js";
import { TimeView } from "../views/time/time-view.js";

interface PageView {
  readonly title: string;
  readonly View: ComponentType;
}

/** By their names in the address. */
export const views: Readonly<Record<string, PageView>> = {
  overview: { title: "Overview", View: OverviewView },
  requests: { title: "Requests", View: RequestsView },
  keys: { title: "Keys", View: KeysView },
  time: { title: "Time", View: TimeView },
  story: { title: "Story", View: StoryView },
  scenario: { title: "Scenario", View: ScenarioView },
  faults: { title: "Faults", View: FaultsView },
};
