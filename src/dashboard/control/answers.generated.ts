export type Key = {
  readonly "ref": string;
  readonly "organization": string;
  readonly "name": string;
  readonly "environment": "test" | "live";
  readonly "legacy": boolean;
  readonly "fingerprint": string;
  readonly "state": "active" | "revoked" | "expired" | "retiring" | "rotated";
  readonly "scopes": readonly (string)[];
  readonly "limits": {
    readonly "per_minute": number;
    readonly "per_day": number;
  };
  readonly "usage": {
    readonly "this_minute": number;
    readonly "today": number;
  };
  readonly "revoked_at": string | null;
  readonly "expires_at": string | null;
  readonly "overlap_ends_at": string | null;
  readonly "replaced_by": string | null;
  readonly "replaces": string | null;
};

export type RevokedKey = {
  readonly "key": Key;
};

export type IssuedKey = {
  readonly "key": Key;
  readonly "secret": string;
};

export type Organization = {
  readonly "ref": string;
  readonly "name": string;
  readonly "id": string;
  readonly "type": "bank" | "insurer";
  readonly "status": "active" | "inactive";
  readonly "sandbox_access": boolean;
  readonly "live_access": "not_approved" | "approved" | "suspended";
};

export type Consent = {
  readonly "id": string;
  readonly "organization": string;
  readonly "farmer_id": string;
  readonly "synthetic": true;
  readonly "farmer": number;
  readonly "status": "pending" | "granted" | "rejected" | "revoked" | "cancelled" | "expired";
  readonly "purpose": {
    readonly "code": "credit_assessment" | "insurance_underwriting" | "claim_assessment" | "monitoring";
    readonly "text": string;
  };
  readonly "permissions": readonly ("identity" | "land" | "production" | "livestock" | "insurance" | "loans")[];
  readonly "created_at": string;
  readonly "respond_by": string;
  readonly "expires_at": string;
  readonly "history": readonly ({
    readonly "status": "pending" | "granted" | "rejected" | "revoked" | "cancelled" | "expired";
    readonly "at": string;
    readonly "by": "relying_party" | "farmer" | "system";
  })[];
  readonly "attestations": readonly ({
    readonly "id": string;
    readonly "type": "identity" | "land" | "production" | "livestock" | "insurance" | "loans";
    readonly "production": "processing" | "ready" | "failed";
    readonly "validity": "active" | "suspended" | "revoked" | "expired" | null;
  })[];
};

export type Attestation = {
  readonly "id": string;
  readonly "synthetic": true;
  readonly "type": "identity" | "land" | "production" | "livestock" | "insurance" | "loans";
  readonly "farmer_id": string;
  readonly "consent_request_id": string;
  readonly "production": "processing" | "ready" | "failed";
  readonly "validity": "active" | "suspended" | "revoked" | "expired" | null;
  readonly "requested_at": string;
  readonly "produced_at": string | null;
  readonly "valid_from": string | null;
  readonly "valid_until": string | null;
  readonly "as_of": string;
  readonly "subject": {
    readonly "farmer_id": string;
    readonly "synthetic": true;
    readonly "name": unknown;
    readonly "sex": unknown;
    readonly "birth_year": unknown;
    readonly "language": unknown;
    readonly "household": unknown;
    readonly "location": unknown;
    readonly "cooperative": unknown;
  } | {
    readonly "farmer_id": string;
    readonly "synthetic": true;
    readonly "farmer_type": unknown;
    readonly "farm_area_ha": unknown;
    readonly "parcels": unknown;
  } | {
    readonly "farmer_id": string;
    readonly "synthetic": true;
    readonly "crops": unknown;
  } | {
    readonly "farmer_id": string;
    readonly "synthetic": true;
    readonly "livestock": unknown;
  } | {
    readonly "farmer_id": string;
    readonly "synthetic": true;
    readonly "insurance": unknown;
  } | {
    readonly "farmer_id": string;
    readonly "synthetic": true;
    readonly "loans": unknown;
  } | null;
};

export type Clock = {
  readonly "now": string;
  readonly "frozen": boolean;
};

export type Upcoming = {
  readonly "at": string;
  readonly "kind": "overlap_ends" | "key_expires" | "minute_turns" | "day_turns" | "timeline_step" | "fault_begins" | "fault_ends" | "consent_changes" | "attestations_finish";
  readonly "key": string | null;
  readonly "organization": string | null;
  readonly "step": number | null;
  readonly "text": string;
};

export type Assumptions = {
  readonly "profile": "minimal" | "typical" | "varied";
  readonly "rate_limit_code": string;
  readonly "request_id_on_errors": boolean;
  readonly "retry_after": "none" | "seconds" | "date";
  readonly "rate_limit_headers": "none" | "draft" | "legacy";
  readonly "error_details": boolean;
  readonly "me_scope": string | null;
  readonly "scopes": readonly (string)[];
  readonly "minute_window": "fixed" | "sliding";
  readonly "day_resets_at": string;
  readonly "count_refused": boolean;
  readonly "retiring_counts_as_active": boolean;
  readonly "replacement_usage": "fresh" | "inherited";
  readonly "www_authenticate": boolean;
  readonly "default_expiry": string;
};

export type AssumptionRow = {
  readonly "assumption": string;
  readonly "meaning": string;
  readonly "gap": string;
  readonly "schema": { readonly [name: string]: unknown };
  readonly "minimal": unknown;
  readonly "typical": unknown;
  readonly "varied": boolean;
};

export type Fault = {
  readonly "when"?: {
    readonly "key"?: string;
    readonly "organization"?: string;
    readonly "path_id"?: "200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key";
    readonly "after"?: string;
    readonly "until"?: string;
    readonly "every"?: number;
    readonly "requests"?: readonly (number)[];
    readonly "probability"?: number;
  };
  readonly "then": {
    readonly "latency"?: string | {
      readonly "min": string;
      readonly "max": string;
    };
    readonly "status"?: 500 | 501 | 502 | 503 | 504;
    readonly "body"?: "json" | "html";
    readonly "reset"?: boolean;
    readonly "hang"?: boolean;
    readonly "truncate"?: boolean;
    readonly "malformed"?: boolean;
    readonly "slow"?: number;
  };
  readonly "requests_matched"?: number;
};

export type Request = {
  readonly "id": string;
  readonly "method": string;
  readonly "path": string;
  readonly "at": string;
  readonly "key": string | null;
  readonly "fingerprint": string | null;
  readonly "status": number;
  readonly "code": string | null;
  readonly "path_id": "200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key" | "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow";
  readonly "fault": "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow" | null;
  readonly "advice": readonly ("key-in-query" | "key-in-authorization" | "key-from-browser" | "real-key-suspected" | "same-key-after-401" | "too-soon-after-429" | "no-pause-after-failure" | "old-key-after-replacement-seen" | "query-or-body-sent" | "wrong-method-or-path" | "key-of-another-sandbox" | "retiring-key-in-use" | "legacy-key-in-use" | "key-with-browser-headers")[];
  readonly "duration_ms": number;
  readonly "told": boolean;
};

export type RequestDetails = {
  readonly "id": string;
  readonly "method": string;
  readonly "path": string;
  readonly "at": string;
  readonly "key": string | null;
  readonly "fingerprint": string | null;
  readonly "status": number;
  readonly "code": string | null;
  readonly "path_id": "200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key" | "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow";
  readonly "fault": "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow" | null;
  readonly "advice": readonly ("key-in-query" | "key-in-authorization" | "key-from-browser" | "real-key-suspected" | "same-key-after-401" | "too-soon-after-429" | "no-pause-after-failure" | "old-key-after-replacement-seen" | "query-or-body-sent" | "wrong-method-or-path" | "key-of-another-sandbox" | "retiring-key-in-use" | "legacy-key-in-use" | "key-with-browser-headers")[];
  readonly "duration_ms": number;
  readonly "told": boolean;
  readonly "checks": readonly ({
    readonly "name": string;
    readonly "question": string;
    readonly "rules": string;
    readonly "result": "passed" | "refused" | "not_reached";
  })[];
  readonly "answer": {
    readonly "status": number;
    readonly "headers": { readonly [name: string]: string };
    readonly "body": string;
  } | null;
  readonly "when": string;
  readonly "what_to_do": string;
  readonly "advice_details": readonly ({
    readonly "id": "key-in-query" | "key-in-authorization" | "key-from-browser" | "real-key-suspected" | "same-key-after-401" | "too-soon-after-429" | "no-pause-after-failure" | "old-key-after-replacement-seen" | "query-or-body-sent" | "wrong-method-or-path" | "key-of-another-sandbox" | "retiring-key-in-use" | "legacy-key-in-use" | "key-with-browser-headers";
    readonly "level": "note" | "warning" | "error";
    readonly "rule": string;
    readonly "meaning": string;
    readonly "what_to_do": string;
  })[];
};

export type Sent = {
  readonly "request": Request;
  readonly "answer": {
    readonly "status": number;
    readonly "headers": { readonly [name: string]: string };
    readonly "body": string;
  } | null;
};

export type Gate = {
  readonly "checks": readonly ({
    readonly "name": string;
    readonly "question": string;
    readonly "rules": string;
    readonly "exits": readonly ("200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key" | "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow")[];
  })[];
  readonly "successes": readonly ("200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key" | "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow")[];
  readonly "faults": readonly ("200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key" | "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow")[];
};

export type Report = {
  readonly "scenario": string;
  readonly "seed": number;
  readonly "profile": "minimal" | "typical" | "varied";
  readonly "pinned": readonly (string)[];
  readonly "requests": number;
  readonly "unread": number;
  readonly "coverage": {
    readonly "percent": number;
    readonly "met": number;
    readonly "promised": number;
  };
  readonly "faults": {
    readonly "met": number;
    readonly "total": number;
  };
  readonly "preview": {
    readonly "met": number;
    readonly "total": number;
  } | null;
  readonly "paths": readonly ({
    readonly "path_id": "200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key" | "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow";
    readonly "promised": boolean;
    readonly "met": boolean;
    readonly "count": number;
    readonly "preview_count": number;
    readonly "when": string;
    readonly "how_to_meet": string | null;
  })[];
  readonly "advice": readonly ({
    readonly "id": "key-in-query" | "key-in-authorization" | "key-from-browser" | "real-key-suspected" | "same-key-after-401" | "too-soon-after-429" | "no-pause-after-failure" | "old-key-after-replacement-seen" | "query-or-body-sent" | "wrong-method-or-path" | "key-of-another-sandbox" | "retiring-key-in-use" | "legacy-key-in-use" | "key-with-browser-headers";
    readonly "level": "note" | "warning" | "error";
    readonly "rule": string;
    readonly "meaning": string;
    readonly "what_to_do": string;
    readonly "count": number;
    readonly "examples": readonly ({
      readonly "id": string;
      readonly "method": string;
      readonly "path": string;
      readonly "at": string;
      readonly "key": string | null;
      readonly "fingerprint": string | null;
      readonly "did_you_mean": string | null;
    })[];
  })[];
};

export type Farmer = {
  readonly "farmer_id": string;
  readonly "synthetic": true;
  readonly "name": {
    readonly "given_name": string;
    readonly "surname": string;
  };
  readonly "sex": "female" | "male";
  readonly "birth_year": number;
  readonly "language": string;
  readonly "household": {
    readonly "group_size": number;
    readonly "is_head": boolean;
  };
  readonly "farmer_type": "small" | "medium" | "large";
  readonly "farm_area_ha": number;
  readonly "location": {
    readonly "country_code": string;
    readonly "subdivision_code": string;
    readonly "subdivision_name": string;
  };
  readonly "parcels": readonly ({
    readonly "type": "Feature";
    readonly "id": string;
    readonly "geometry": {
      readonly "type": "Polygon";
      readonly "coordinates": readonly (readonly (readonly (number)[])[])[];
    };
    readonly "properties": {
      readonly "collection": "synthetic";
      readonly "synthetic": true;
      readonly "metrics:area": number;
      readonly "metrics:perimeter": number;
      readonly "area_ha": number;
      readonly "determination:method": "driven" | "surveyed" | "auto-imagery" | "manual";
      readonly "determination:datetime": string;
      readonly "land_type": "temporary_crops" | "permanent_crops";
      readonly "land_ownership": "owned" | "owner_like_possession" | "rented" | "sharecropped" | "communal";
      readonly "irrigation": "none" | "surface" | "sprinkler" | "drip";
      readonly "crop:code_list": "https://agrovoc.fao.org/";
      readonly "crop:code": string;
      readonly "crop:name": string;
      readonly "seasons": readonly ({
        readonly "season_code": string;
        readonly "season_start": string;
        readonly "season_end": string;
        readonly "crop_code": string;
        readonly "crop_name": string;
        readonly "planted_on": string;
        readonly "harvested_on": string | null;
        readonly "harvest_kg": number | null;
        readonly "yield_kg_ha": number | null;
        readonly "loss_cause": "drought" | "flood" | "frost" | "hail" | "pest" | "storm" | null;
      })[];
    };
  })[];
  readonly "livestock": readonly ({
    readonly "type": "buffaloes" | "cattle" | "chickens" | "ducks" | "goats" | "pigs" | "sheep";
    readonly "count": number;
  })[];
  readonly "cooperative": {
    readonly "cooperative_id": string;
    readonly "name": string;
    readonly "member_since": number;
  } | null;
  readonly "insurance": readonly ({
    readonly "policy_id": string;
    readonly "season_code": string;
    readonly "crop_code": string;
    readonly "crop_name": string;
    readonly "insured_area_ha": number;
    readonly "insured_value_per_ha": {
      readonly "amount": number;
      readonly "currency": string;
    };
    readonly "sum_insured": {
      readonly "amount": number;
      readonly "currency": string;
    };
    readonly "deductible": {
      readonly "amount": number;
      readonly "currency": string;
    };
    readonly "premium": {
      readonly "amount": number;
      readonly "currency": string;
    };
    readonly "term_start": string;
    readonly "term_end": string;
    readonly "claims": readonly ({
      readonly "claim_id": string;
      readonly "cause": "drought" | "flood" | "frost" | "hail" | "pest" | "storm";
      readonly "occurred_on": string;
      readonly "status": "open" | "settled" | "rejected";
      readonly "amount": {
        readonly "amount": number;
        readonly "currency": string;
      };
    })[];
  })[];
  readonly "loans": readonly ({
    readonly "loan_id": string;
    readonly "purpose": "inputs" | "equipment" | "livestock" | "land_improvement";
    readonly "lender": "commercial_bank" | "agricultural_bank" | "cooperative" | "microfinance" | "input_supplier";
    readonly "collateral": "none" | "crop" | "equipment" | "group_guarantee" | "guarantor" | "land" | "livestock";
    readonly "interest_rate_percent": number;
    readonly "currency": string;
    readonly "principal": number;
    readonly "outstanding": number;
    readonly "opened_on": string;
    readonly "due_on": string;
    readonly "status": "current" | "in_arrears" | "defaulted" | "repaid";
    readonly "days_past_due": number;
  })[];
};

export type FarmerPage = {
  readonly "data": readonly (Farmer)[];
  readonly "total": number;
};

export type KeyPage = {
  readonly "data": readonly (Key)[];
  readonly "total": number;
};

export type OrganizationPage = {
  readonly "data": readonly (Organization)[];
  readonly "total": number;
};

export type Story = {
  readonly "steps": number;
  readonly "told": number;
  readonly "over": boolean;
  readonly "next": {
    readonly "number": number;
    readonly "kind": "say" | "request" | "advance" | "create_key" | "rotate" | "revoke" | "organization" | "consent" | "attestation" | "faults" | "assumptions";
    readonly "say": string | null;
  } | null;
  readonly "outline": readonly ({
    readonly "number": number;
    readonly "kind": "say" | "request" | "advance" | "create_key" | "rotate" | "revoke" | "organization" | "consent" | "attestation" | "faults" | "assumptions";
    readonly "say": string | null;
    readonly "text": string | null;
    readonly "told": boolean;
    readonly "as_expected": boolean | null;
  })[];
  readonly "last": StepResult | null;
};

export type NextStep = {
  readonly "steps": number;
  readonly "told": number;
  readonly "over": boolean;
  readonly "step": StepResult | null;
};

export type StepResult = {
  readonly "number": number;
  readonly "of": number;
  readonly "kind": "say" | "request" | "advance" | "create_key" | "rotate" | "revoke" | "organization" | "consent" | "attestation" | "faults" | "assumptions";
  readonly "say": string | null;
  readonly "request": {
    readonly "method": string;
    readonly "path": string;
    readonly "key": string;
    readonly "headers": { readonly [name: string]: string };
    readonly "body": string | null;
    readonly "times": number;
  } | null;
  readonly "answer": {
    readonly "status": number;
    readonly "headers": { readonly [name: string]: string };
    readonly "body": string;
    readonly "code": string | null;
    readonly "path_id": "200.test" | "200.live" | "200.legacy" | "200.retiring" | "200.replacement" | "401.missing" | "401.malformed" | "401.unknown" | "401.revoked" | "401.expired" | "401.rotated" | "403.access_denied" | "403.live_not_approved" | "403.live_suspended" | "403.insufficient_scope" | "429.per_minute" | "429.per_day" | "404.unknown_path" | "405.method" | "400.bad_request" | "404.unknown_record" | "409.conflict" | "422.validation" | "422.idempotency_key" | "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow";
    readonly "fault": "fault.latency" | "fault.status" | "fault.reset" | "fault.hang" | "fault.truncate" | "fault.malformed" | "fault.slow" | null;
  } | null;
  readonly "performed": {
    readonly "refusal": {
      readonly "code": string;
      readonly "message": string;
    } | null;
    readonly "key": Key | null;
    readonly "replacement": Key | null;
    readonly "secret": string | null;
    readonly "organization": Organization | null;
    readonly "consent": Consent | null;
  } | null;
  readonly "failure": {
    readonly "code": string;
    readonly "message": string;
  } | null;
  readonly "text": string | null;
  readonly "meanwhile": readonly ({
    readonly "timeline_step": number;
    readonly "at": string;
    readonly "text": string;
    readonly "refusal": string | null;
    readonly "message": string | null;
  })[];
  readonly "now": string;
  readonly "differences": readonly ({
    readonly "at": string;
    readonly "expected": string;
    readonly "found": string;
  })[];
};

export type Health = {
  readonly "status": "ok";
  readonly "version": string;
  readonly "store"?: "reachable" | "unreachable";
  readonly "scenario"?: string;
  readonly "seed"?: number;
  readonly "now"?: string;
  readonly "started_at"?: string;
};

export type Readiness = {
  readonly "status": "ready";
  readonly "version": string;
};

export type State = {
  readonly "scenario": string;
  readonly "seed": number;
  readonly "clock": Clock;
  readonly "assumptions": Assumptions;
  readonly "faults": readonly (Fault)[];
  readonly "organizations": readonly (Organization)[];
  readonly "keys": readonly (Key)[];
};

export type Scenario = {
  readonly "name": string;
  readonly "title": string;
  readonly "description": string;
};

export type Validation = {
  readonly "problems": readonly ({
    readonly "line": number | null;
    readonly "column": number | null;
    readonly "end_line": number | null;
    readonly "end_column": number | null;
    readonly "level": "error" | "warning";
    readonly "message": string;
    readonly "hint": string | null;
  })[];
};

export type Running = {
  readonly "scenario": string;
  readonly "seed": number;
  readonly "now": string;
  readonly "warnings": readonly (string)[];
};

export type Stopping = {
  readonly "scenario": string;
  readonly "seed": number;
  readonly "started_at": string;
};

export type Instance = {
  readonly "id": string;
  readonly "base_url": string;
  readonly "control_url": string;
  readonly "scenario": string;
  readonly "seed": number;
  readonly "label": string | null;
  readonly "created_at": string;
  readonly "keys": { readonly [name: string]: string };
};

export type InstanceSummary = {
  readonly "id": string;
  readonly "base_url": string;
  readonly "control_url": string;
  readonly "scenario": string;
  readonly "seed": number;
  readonly "label": string | null;
  readonly "created_at": string;
};

export type ControlError = {
  readonly "error": {
    readonly "code": string;
    readonly "message": string;
    readonly "details"?: { readonly [name: string]: unknown };
  };
};
