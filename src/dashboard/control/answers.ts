import type { ControlAnswer as Answer } from "../../server/control/answers.js";

export type { KeyActionName } from "../../server/control/answers.js";

// The types of the control plane's responses. The page depends on nothing else of it.

export type AssumptionRow = Answer<"AssumptionRow">;
export type Assumptions = Answer<"Assumptions">;
export type ClaimedInstance = Answer<"ClaimedInstance">;
export type Clock = Answer<"Clock">;
export type Collection = Answer<"Collection">;
export type Directory = Answer<"Directory">;
export type Farmer = Answer<"Farmer">;
export type FarmerSummaryPage = Answer<"FarmerSummaryPage">;
export type Fault = Answer<"Fault">;
export type Gate = Answer<"Gate">;
export type Health = Answer<"Health">;
export type Instance = Answer<"Instance">;
export type InstancePage = Answer<"InstancePage">;
export type IssuedKey = Answer<"IssuedKey">;
export type Key = Answer<"ListedKey">;
export type KeyPage = Answer<"KeyPage">;
export type Organization = Answer<"Organization">;
export type Record = Answer<"Record">;
export type RecordPage = Answer<"RecordPage">;
export type Report = Answer<"Report">;
export type Request = Answer<"Request">;
export type RequestDetails = Answer<"RequestDetails">;
export type Scenario = Answer<"Scenario">;
export type Sent = Answer<"Sent">;
export type StepResult = Answer<"StepResult">;
export type Story = Answer<"Story">;
export type Upcoming = Answer<"Upcoming">;
export type Validation = Answer<"Validation">;
