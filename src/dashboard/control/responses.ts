import type { ControlResponse as Shape } from "../../server/control/responses.js";

// The types of the control plane's responses. The page depends on nothing else of it.

export type AssumptionRow = Shape<"AssumptionRow">;
export type Assumptions = Shape<"Assumptions">;
export type ClaimedInstance = Omit<Shape<"ClaimedInstance">, "environment">;
export type Clock = Shape<"Clock">;
export type Collection = Shape<"Collection">;
export type Directory = Shape<"Directory">;
export type Farmer = Shape<"Farmer">;
export type FarmerSummaryPage = Shape<"FarmerSummaryPage">;
export type Fault = Shape<"Fault">;
export type RequestChecks = Shape<"RequestChecks">;
export type Health = Shape<"Health">;
export type Instance = Shape<"Instance">;
export type InstancePage = Shape<"InstancePage">;
export type IssuedKey = Shape<"IssuedKey">;
export type Key = Shape<"ListedKey">;
export type KeyPage = Shape<"KeyPage">;
export type Organization = Shape<"Organization">;
export type Record = Shape<"Record">;
export type RecordPage = Shape<"RecordPage">;
export type Report = Shape<"Report">;
export type Request = Shape<"Request">;
export type RequestDetails = Shape<"RequestDetails">;
export type Scenario = Shape<"Scenario">;
export type Sent = Shape<"Sent">;
export type StepResult = Shape<"StepResult">;
export type Story = Shape<"Story">;
export type Upcoming = Shape<"Upcoming">;
export type Validation = Shape<"Validation">;
