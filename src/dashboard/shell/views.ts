import type { ComponentType } from "preact";
import { instanceId } from "../control/call.js";
import { farmersStart } from "../control/resources.js";
import { FarmersView } from "../views/farmers/farmers-view.js";
import { FaultsView } from "../views/faults/faults.js";
import { InstancesView } from "../views/instances/instances-view.js";
import { KeysView } from "../views/keys/keys-view.js";
import { OverviewView } from "../views/overview/overview-view.js";
import { RequestsView } from "../views/requests/requests-view.js";
import { ScenarioView } from "../views/scenario/scenario-view.js";
import { StoryView } from "../views/story/story-view.js";
import { TimeView } from "../views/time/time-view.js";

/** A view of the page. The address contains its name. */
export interface View {
  readonly name: string;
  readonly title: string;
  readonly View: ComponentType;
  /** Whether the navigation has a link to it. Default: always. */
  readonly isShown?: () => boolean;
}

/** All views, in the order of the navigation. */
export const views: readonly View[] = [
  { name: "overview", title: "Overview", View: OverviewView },
  { name: "requests", title: "Requests", View: RequestsView },
  { name: "keys", title: "Keys", View: KeysView },
  { name: "time", title: "Time", View: TimeView },
  { name: "story", title: "Story", View: StoryView },
  { name: "scenario", title: "Scenario", View: ScenarioView },
  { name: "faults", title: "Faults", View: FaultsView },
  {
    name: "farmers",
    title: "Farmers",
    View: FarmersView,
    isShown: () => farmersStart.data.value?.total !== 0,
  },
  {
    name: "instances",
    title: "Instances",
    View: InstancesView,
    // Instances cannot contain instances.
    isShown: () => instanceId === undefined,
  },
];
