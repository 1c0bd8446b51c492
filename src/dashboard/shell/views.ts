import type { ComponentType } from "preact";
import { instanceId } from "../control/call.js";
import { farmersStart } from "../control/resources.js";

/** A view of the page. The address contains its name. */
export interface View {
  readonly name: string;
  readonly title: string;
  /** Loads its files when it is shown for the first time. */
  readonly load: () => Promise<ComponentType>;
  /** Whether the navigation has a link to it. Default: always. */
  readonly isShown?: () => boolean;
}

/** All views, in the order of the navigation. */
export const views: readonly View[] = [
  {
    name: "overview",
    title: "Overview",
    load: async () => (await import("../views/overview/overview-view.js")).OverviewView,
  },
  {
    name: "requests",
    title: "Requests",
    load: async () => (await import("../views/requests/requests-view.js")).RequestsView,
  },
  {
    name: "keys",
    title: "Keys",
    load: async () => (await import("../views/keys/keys-view.js")).KeysView,
  },
  {
    name: "time",
    title: "Time",
    load: async () => (await import("../views/time/time-view.js")).TimeView,
  },
  {
    name: "story",
    title: "Story",
    load: async () => (await import("../views/story/story-view.js")).StoryView,
  },
  {
    name: "scenario",
    title: "Scenario",
    load: async () => (await import("../views/scenario/scenario-page.js")).ScenarioPage,
  },
  {
    name: "faults",
    title: "Faults",
    load: async () => (await import("../views/faults/faults.js")).FaultsView,
  },
  {
    name: "farmers",
    title: "Farmers",
    load: async () => (await import("../views/farmers/farmer-pages.js")).FarmerPages,
    isShown: () => farmersStart.data.value?.total !== 0,
  },
  {
    name: "instances",
    title: "Instances",
    load: async () => (await import("../views/instances/instances-view.js")).InstancesView,
    // Instances cannot contain instances.
    isShown: () => instanceId === undefined,
  },
];
