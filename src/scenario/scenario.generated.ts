// Made by `npm run generate` from src/scenario/format/schema.ts. Do not edit.

/**
 * A scenario of svc-sandbox: one world.
 */
export interface Scenario {
  /**
   * The version of the scenario format.
   */
  version: 1;
  /**
   * What the scenario is called, for people.
   */
  name?: string;
  /**
   * What the scenario shows.
   */
  description?: string;
  /**
   * Start from another scenario: a bundled name, or a file (relative to this one). Its story stays behind.
   */
  extends?: string;
  /**
   * Everything left out is derived from it. Default: 1.
   */
  seed?: number;
  /**
   * Requests answered before the clock starts; request ids go on from there. Default: 0.
   */
  requests_answered?: number;
  /**
   * The clock of the sandbox.
   */
  clock?: {
    /**
     * When the clock starts. Default: the real time. An ISO 8601 time with a zone.
     */
    now?: string;
    /**
     * Whether the clock stands still until it is moved. Default: false.
     */
    frozen?: boolean;
  };
  /**
   * The key that clients get when they ask for none. Default: the first key.
   */
  default_key?: string;
  /**
   * The choices made where the specification is silent.
   */
  assumptions?: {
    /**
     * The profile that sets all assumptions. Default: minimal.
     */
    profile?: "minimal" | "typical" | "varied";
    /**
     * The error code of a 429. Default: "rate_limited".
     */
    rate_limit_code?: string;
    /**
     * Whether error responses carry X-Request-Id, too. Default: false.
     */
    request_id_on_errors?: boolean;
    /**
     * Whether a 429 says in Retry-After when to try again, and in which of its two forms. Default: "none".
     */
    retry_after?: "none" | "seconds" | "date";
    /**
     * Which headers tell of limits on 200 and 429: RateLimit and RateLimit-Policy (draft), X-RateLimit-* (legacy), or none. Default: "none".
     */
    rate_limit_headers?: "none" | "draft" | "legacy";
    /**
     * Whether a 403 and a 429 say more in error.details. A 401 never does. Default: false.
     */
    error_details?: boolean;
    /**
     * The scope that GET /v1/relying-party/me needs; null when it needs none. Default: "attestations:read".
     */
    me_scope?: string | null;
    /**
     * All scope names that a key may be given. Default: ["attestations:read","attestations:write","consents:read","consents:write"].
     *
     * @minItems 1
     * @maxItems 100
     *
     * Items: A scope name.
     */
    scopes?: string[];
    /**
     * How a minute is measured: fixed UTC minutes, or the 60 seconds before each request (sliding). Default: "fixed".
     */
    minute_window?: "fixed" | "sliding";
    /**
     * The time of day, in UTC, at which usage.today starts again from zero. Default: "00:00". HH:MM.
     */
    day_resets_at?: string;
    /**
     * Whether requests that are refused (401, 403, 429) count against the limits of the key they carried. Default: false.
     */
    count_refused?: boolean;
    /**
     * Whether a replaced key that is still in its overlap is one of the five active keys. Default: false.
     */
    retiring_counts_as_active?: boolean;
    /**
     * Whether the replacement of a rotated key starts with no usage, or with the old key's. Default: "fresh".
     */
    replacement_usage?: "fresh" | "inherited";
    /**
     * Whether a 401 carries WWW-Authenticate, as HTTP asks of it (RFC 9110). Default: false.
     */
    www_authenticate?: boolean;
    /**
     * How long after its creation a key expires that is created or rotated while the sandbox runs. Default: "none".
     */
    default_expiry?: string;
  };
  /**
   * What goes wrong between the client and the API. Of several faults the first one that hits counts.
   *
   * @maxItems 100
   *
   * Items: A fault: which requests it hits, and what happens then.
   */
  faults?: {
    /**
     * Which requests it hits: all that is given must hold. Default: every request.
     */
    when?: {
      /**
       * Requests with this key.
       */
      key?: string;
      /**
       * Requests with a key of this organization.
       */
      organization?: string;
      /**
       * Requests that would end on this path without the fault.
       */
      path_id?:
        | "200.test"
        | "200.live"
        | "200.legacy"
        | "200.retiring"
        | "200.replacement"
        | "401.missing"
        | "401.malformed"
        | "401.unknown"
        | "401.revoked"
        | "401.expired"
        | "401.rotated"
        | "403.access_denied"
        | "403.live_not_approved"
        | "403.live_suspended"
        | "403.insufficient_scope"
        | "429.per_minute"
        | "429.per_day"
        | "404.unknown_path"
        | "405.method"
        | "400.bad_request"
        | "404.unknown_record"
        | "409.conflict"
        | "422.validation"
        | "422.idempotency_key";
      /**
       * From then on, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
       */
      after?: string;
      /**
       * Before then, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
       */
      until?: string;
      /**
       * Every nth matching request: 10 means the tenth, the twentieth and so on.
       */
      every?: number;
      /**
       * Which of the requests that match, by their number: [3, 4]. The first is 1.
       *
       * @minItems 1
       * @maxItems 1000
       *
       * Items: The number of a request.
       */
      requests?: number[];
      /**
       * How likely it is, from 0 to 1; the seed and the number of the request decide.
       */
      probability?: number;
    };
    /**
     * What happens then: one thing or more.
     */
    then: {
      /**
       * How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }.
       */
      latency?:
        | string
        | {
            /**
             * At least this long. A duration such as 250ms or 2s.
             */
            min: string;
            /**
             * At most this long. A duration such as 250ms or 2s.
             */
            max: string;
          };
      /**
       * Answers with this status and the API's error body.
       */
      status?: 500 | 501 | 502 | 503 | 504;
      /**
       * With status: the API's error body, or a gateway's page. Default: json.
       */
      body?: "json" | "html";
      /**
       * Resets the connection.
       */
      reset?: boolean;
      /**
       * Leaves the request without an answer.
       */
      hang?: boolean;
      /**
       * Cuts the body short and closes the connection.
       */
      truncate?: boolean;
      /**
       * Answers 200 with broken JSON.
       */
      malformed?: boolean;
      /**
       * Sends the body at this many bytes per second.
       */
      slow?: number;
    };
    /**
     * Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0.
     */
    requests_matched?: number;
  }[];
  /**
   * The relying parties of this world, by ref.
   */
  organizations?: {
    /**
     * A relying party: a bank or an insurer.
     */
    [k: string]: {
      /**
       * The name of the organization. Left out: invented from the seed and the ref.
       */
      name?: string;
      /**
       * A UUID in lower case. Left out: derived from the seed and the ref.
       */
      id?: string;
      /**
       * The kind of relying party.
       */
      type: "bank" | "insurer";
      /**
       * Whether the organization may use the API. Default: active.
       */
      status?: "active" | "inactive";
      /**
       * Whether test keys can be created for it. Default: true.
       */
      sandbox_access?: boolean;
      /**
       * Where it stands with live access. Default: not_approved.
       */
      live_access?: "not_approved" | "approved" | "suspended";
      /**
       * Its API keys, by ref.
       */
      keys?: {
        /**
         * An API key.
         */
        [k: string]: {
          /**
           * The environment that the key belongs to; its prefix says the same.
           */
          environment: "test" | "live";
          /**
           * The name of the key. Left out: invented from the seed and the ref.
           */
          name?: string;
          /**
           * The scopes granted to the key. Default: [attestations:read].
           *
           * @minItems 1
           * @maxItems 100
           *
           * Items: A scope name.
           */
          scopes?: string[];
          /**
           * The limits of the key.
           */
          limits?: {
            /**
             * Requests allowed per minute; 0 answers 429 always. Default: 60.
             */
            per_minute?: number;
            /**
             * Requests allowed per day; 0 answers 429 always. Default: 1000.
             */
            per_day?: number;
          };
          /**
           * What the key has already used when the clock starts.
           */
          usage?: {
            /**
             * Requests already counted in the minute in which the clock starts. Default: 0.
             */
            this_minute?: number;
            /**
             * Requests already counted today. Default: the value of this_minute.
             */
            today?: number;
            /**
             * For minute_window: sliding, when the requests of this_minute were counted, oldest first; snapshots write it. Default: all when the clock starts.
             *
             * Items: When a request was counted. An ISO 8601 time with a zone.
             */
            counted_at?: string[];
          };
          /**
           * The state in which the key starts. Default: active.
           */
          state?: "active" | "revoked" | "expired" | "retiring" | "rotated";
          /**
           * When the key expires. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
           */
          expires?: string;
          /**
           * Whether the key has a legacy prefix. Default: false.
           */
          legacy?: boolean;
          /**
           * The key that replaced this one.
           */
          replaced_by?: string;
          /**
           * When a retiring key ends. Default: 60m. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
           */
          overlap_ends?: string;
          /**
           * The full key. Left out: derived from the seed and the ref.
           */
          secret?: string;
          /**
           * The SHA-256 of the full key instead of the key; snapshots write it for keys made at run time.
           */
          sha256?: string;
        };
      };
    };
  };
  /**
   * Organizations, keys and farmers by their number.
   */
  population?: {
    /**
     * How many organizations there are besides those that are described, under the refs organization-1, organization-2, …: every third one is an insurer, the others are banks. Default: 0.
     */
    organizations?: number;
    /**
     * How many keys each of them has, under the refs organization-1-key-1, …: test, live, test, …; an organization with a live key is approved. Default: 1.
     */
    keys_per_organization?: number;
    /**
     * How many synthetic farmers there are. Default: 1000.
     */
    farmers?: number;
    /**
     * Where the farmers live: a locale, or all of a language. Default: everywhere.
     */
    locale?:
      | "en"
      | "en_GH"
      | "en_IN"
      | "en_NG"
      | "es"
      | "es_MX"
      | "fr"
      | "fr_SN"
      | "id"
      | "id_ID"
      | "pt"
      | "pt_BR"
      | "tr"
      | "uk"
      | "vi";
    /**
     * The time on which the dates of the farmers hang; snapshots write it. Default: when the clock starts. An ISO 8601 time with a zone.
     */
    as_of?: string;
  };
  /**
   * Whether there is a preview of the announced endpoints, consent requests and attestations; their shapes are a guess. Default: false.
   */
  preview?: boolean;
  /**
   * Consent requests that exist when the clock starts; needs preview: true.
   *
   * Items: A consent request.
   */
  consents?: {
    /**
     * The organization that asks; always with a test key, since live keys see no farmers here.
     */
    organization: string;
    /**
     * The farmer, by number: 0 is the first one.
     */
    farmer: number;
    /**
     * What the data is wanted for. Default: a credit assessment.
     */
    purpose?: {
      /**
       * What kind of purpose.
       */
      code: "credit_assessment" | "insurance_underwriting" | "claim_assessment" | "monitoring";
      /**
       * What the farmer reads.
       */
      text: string;
    };
    /**
     * What the farmer is asked to have attested. Default: [identity].
     *
     * @minItems 1
     * @maxItems 6
     *
     * Items: What may be attested.
     */
    permissions?: ("identity" | "land" | "production" | "livestock" | "insurance" | "loans")[];
    /**
     * When it was made. Default: when the clock starts. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
     */
    created_at?: string;
    /**
     * When the consent ends, whatever the answer. Default: 90 days after it was made. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
     */
    expires_at?: string;
    /**
     * What was done about it, in order.
     *
     * Items: Something that was done about the request.
     */
    deeds?: {
      /**
       * When it was done. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
       */
      at: string;
      /**
       * What the farmer (grant, reject, revoke) or the relying party (cancel) did.
       */
      do: "grant" | "reject" | "revoke" | "cancel";
    }[];
    /**
     * What happened to its attestations, in order; snapshots write it.
     *
     * Items: An attestation was suspended, or its suspension ended.
     */
    suspensions?: {
      /**
       * When it happened. An ISO 8601 time with a zone.
       */
      at: string;
      /**
       * Of which attestation.
       */
      permission: "identity" | "land" | "production" | "livestock" | "insurance" | "loans";
      /**
       * Whether it was suspended, or its suspension ended.
       */
      suspended: boolean;
    }[];
    /**
     * How a client can send the request again without making another one.
     */
    idempotency?: {
      /**
       * The Idempotency-Key with which it was made.
       */
      key: string;
      /**
       * The SHA-256 of what its body said; snapshots write it. Left out: no other body is the same.
       */
      sha256?: string;
    };
  }[];
  /**
   * What happens by itself as the clock passes, in order.
   *
   * @maxItems 1000
   *
   * Items: One thing that happens, and when.
   */
  timeline?: {
    /**
     * When it happens. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
     */
    at: string;
    /**
     * An administrator creates a key.
     */
    create_key?: {
      /**
       * The organization that the key is for.
       */
      organization: string;
      /**
       * The environment of the key.
       */
      environment: "test" | "live";
      /**
       * The name of the key.
       */
      name: string;
      /**
       * Default: [attestations:read].
       *
       * Items: A scope name.
       */
      scopes?: string[];
      /**
       * The limits of the key.
       */
      limits?: {
        /**
         * Requests allowed per minute; 0 answers 429 always. Default: 60.
         */
        per_minute?: number;
        /**
         * Requests allowed per day; 0 answers 429 always. Default: 1000.
         */
        per_day?: number;
      };
      /**
       * How to call the key from now on. Default: made from its name.
       */
      ref?: string;
      /**
       * When the key expires. A duration counts from the step. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
       */
      expires?: string;
      /**
       * Who does it in the dashboard; only administrators may (R33). Default: administrator.
       */
      actor?: "administrator" | "member";
    };
    /**
     * An administrator replaces a key by a new one.
     */
    rotate?: {
      /**
       * The key to replace.
       */
      key: string;
      /**
       * How to call the replacement. Default: the old ref with the next free number.
       */
      as?: string;
      /**
       * How long the old key goes on working: 0s to 7d; 0s ends it at once. Default: 60m. A duration such as 90s, 10m, 2h, 7d.
       */
      overlap?: string;
      /**
       * Who does it in the dashboard; only administrators may (R33). Default: administrator.
       */
      actor?: "administrator" | "member";
    };
    /**
     * An administrator revokes a key.
     */
    revoke?: {
      /**
       * The key to revoke.
       */
      key: string;
      /**
       * Who does it in the dashboard; only administrators may (R33). Default: administrator.
       */
      actor?: "administrator" | "member";
    };
    /**
     * Something about an organization changes.
     */
    organization?: {
      /**
       * The organization.
       */
      ref: string;
      /**
       * Whether the organization may use the API.
       */
      status?: "active" | "inactive";
      /**
       * Whether test keys can be created for it.
       */
      sandbox_access?: boolean;
      /**
       * Where it stands with live access.
       */
      live_access?: "not_approved" | "approved" | "suspended";
    };
    /**
     * A farmer decides about a consent request; needs preview: true.
     */
    consent?: {
      /**
       * The farmer, by number: 0 is the first one.
       */
      farmer: number;
      /**
       * What the farmer does about the newest consent request that allows it.
       */
      do: "grant" | "reject" | "revoke";
      /**
       * The organization that asked. Default: any.
       */
      organization?: string;
    };
    /**
     * What goes wrong between the client and the API. Of several faults the first one that hits counts.
     *
     * @maxItems 100
     *
     * Items: A fault: which requests it hits, and what happens then.
     */
    faults?: {
      /**
       * Which requests it hits: all that is given must hold. Default: every request.
       */
      when?: {
        /**
         * Requests with this key.
         */
        key?: string;
        /**
         * Requests with a key of this organization.
         */
        organization?: string;
        /**
         * Requests that would end on this path without the fault.
         */
        path_id?:
          | "200.test"
          | "200.live"
          | "200.legacy"
          | "200.retiring"
          | "200.replacement"
          | "401.missing"
          | "401.malformed"
          | "401.unknown"
          | "401.revoked"
          | "401.expired"
          | "401.rotated"
          | "403.access_denied"
          | "403.live_not_approved"
          | "403.live_suspended"
          | "403.insufficient_scope"
          | "429.per_minute"
          | "429.per_day"
          | "404.unknown_path"
          | "405.method"
          | "400.bad_request"
          | "404.unknown_record"
          | "409.conflict"
          | "422.validation"
          | "422.idempotency_key";
        /**
         * From then on, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
         */
        after?: string;
        /**
         * Before then, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
         */
        until?: string;
        /**
         * Every nth matching request: 10 means the tenth, the twentieth and so on.
         */
        every?: number;
        /**
         * Which of the requests that match, by their number: [3, 4]. The first is 1.
         *
         * @minItems 1
         * @maxItems 1000
         *
         * Items: The number of a request.
         */
        requests?: number[];
        /**
         * How likely it is, from 0 to 1; the seed and the number of the request decide.
         */
        probability?: number;
      };
      /**
       * What happens then: one thing or more.
       */
      then: {
        /**
         * How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }.
         */
        latency?:
          | string
          | {
              /**
               * At least this long. A duration such as 250ms or 2s.
               */
              min: string;
              /**
               * At most this long. A duration such as 250ms or 2s.
               */
              max: string;
            };
        /**
         * Answers with this status and the API's error body.
         */
        status?: 500 | 501 | 502 | 503 | 504;
        /**
         * With status: the API's error body, or a gateway's page. Default: json.
         */
        body?: "json" | "html";
        /**
         * Resets the connection.
         */
        reset?: boolean;
        /**
         * Leaves the request without an answer.
         */
        hang?: boolean;
        /**
         * Cuts the body short and closes the connection.
         */
        truncate?: boolean;
        /**
         * Answers 200 with broken JSON.
         */
        malformed?: boolean;
        /**
         * Sends the body at this many bytes per second.
         */
        slow?: number;
      };
      /**
       * Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0.
       */
      requests_matched?: number;
    }[];
    /**
     * The expected outcome of the action. Default: any; a refusal stops nothing.
     */
    expect?: {
      /**
       * The code with which the action is refused.
       */
      error:
        | "validation_failed"
        | "unknown_ref"
        | "not_an_administrator"
        | "sandbox_access_off"
        | "live_access_not_approved"
        | "key_limit_reached"
        | "key_not_active"
        | "name_taken"
        | "overlap_out_of_range"
        | "scopes_required"
        | "unknown_scope"
        | "consent_not_open"
        | "attestation_not_open";
    };
  }[];
  /**
   * A script to tell, step by step: what play shows and verify proves.
   *
   * @maxItems 1000
   *
   * Items: A step does one thing: say, request, advance or an action.
   */
  story?: {
    /**
     * What the narrator says.
     */
    say?: string;
    /**
     * A client sends a request to the API.
     */
    request?: {
      /**
       * The ref of the key to send, or none (no key), malformed, or unknown (a key that does not exist). Default: the default key.
       */
      key?: string;
      /**
       * The method, in upper case. Default: GET.
       */
      method?: string;
      /**
       * The path, and a query if there is one. Default: /v1/relying-party/me.
       */
      path?: string;
      /**
       * More headers. The key goes into key instead.
       */
      headers?: {
        /**
         * The value of a header.
         */
        [k: string]: string;
      };
      /**
       * A body: a text is sent as it is, all else as JSON.
       */
      body?:
        | string
        | number
        | boolean
        | null
        | unknown[]
        | {
            [k: string]: unknown;
          };
      /**
       * How many times to send the request, one after the other; expect is about the last answer. Default: 1.
       */
      repeat?: number;
    };
    /**
     * An administrator creates a key.
     */
    create_key?: {
      /**
       * The organization that the key is for.
       */
      organization: string;
      /**
       * The environment of the key.
       */
      environment: "test" | "live";
      /**
       * The name of the key.
       */
      name: string;
      /**
       * Default: [attestations:read].
       *
       * Items: A scope name.
       */
      scopes?: string[];
      /**
       * The limits of the key.
       */
      limits?: {
        /**
         * Requests allowed per minute; 0 answers 429 always. Default: 60.
         */
        per_minute?: number;
        /**
         * Requests allowed per day; 0 answers 429 always. Default: 1000.
         */
        per_day?: number;
      };
      /**
       * How to call the key from now on. Default: made from its name.
       */
      ref?: string;
      /**
       * When the key expires. A duration counts from the step. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
       */
      expires?: string;
      /**
       * Who does it in the dashboard; only administrators may (R33). Default: administrator.
       */
      actor?: "administrator" | "member";
    };
    /**
     * An administrator replaces a key by a new one.
     */
    rotate?: {
      /**
       * The key to replace.
       */
      key: string;
      /**
       * How to call the replacement. Default: the old ref with the next free number.
       */
      as?: string;
      /**
       * How long the old key goes on working: 0s to 7d; 0s ends it at once. Default: 60m. A duration such as 90s, 10m, 2h, 7d.
       */
      overlap?: string;
      /**
       * Who does it in the dashboard; only administrators may (R33). Default: administrator.
       */
      actor?: "administrator" | "member";
    };
    /**
     * An administrator revokes a key.
     */
    revoke?: {
      /**
       * The key to revoke.
       */
      key: string;
      /**
       * Who does it in the dashboard; only administrators may (R33). Default: administrator.
       */
      actor?: "administrator" | "member";
    };
    /**
     * Something about an organization changes.
     */
    organization?: {
      /**
       * The organization.
       */
      ref: string;
      /**
       * Whether the organization may use the API.
       */
      status?: "active" | "inactive";
      /**
       * Whether test keys can be created for it.
       */
      sandbox_access?: boolean;
      /**
       * Where it stands with live access.
       */
      live_access?: "not_approved" | "approved" | "suspended";
    };
    /**
     * A farmer decides about a consent request; needs preview: true.
     */
    consent?: {
      /**
       * The farmer, by number: 0 is the first one.
       */
      farmer: number;
      /**
       * What the farmer does about the newest consent request that allows it.
       */
      do: "grant" | "reject" | "revoke";
      /**
       * The organization that asked. Default: any.
       */
      organization?: string;
    };
    /**
     * What goes wrong between the client and the API. Of several faults the first one that hits counts.
     *
     * @maxItems 100
     *
     * Items: A fault: which requests it hits, and what happens then.
     */
    faults?: {
      /**
       * Which requests it hits: all that is given must hold. Default: every request.
       */
      when?: {
        /**
         * Requests with this key.
         */
        key?: string;
        /**
         * Requests with a key of this organization.
         */
        organization?: string;
        /**
         * Requests that would end on this path without the fault.
         */
        path_id?:
          | "200.test"
          | "200.live"
          | "200.legacy"
          | "200.retiring"
          | "200.replacement"
          | "401.missing"
          | "401.malformed"
          | "401.unknown"
          | "401.revoked"
          | "401.expired"
          | "401.rotated"
          | "403.access_denied"
          | "403.live_not_approved"
          | "403.live_suspended"
          | "403.insufficient_scope"
          | "429.per_minute"
          | "429.per_day"
          | "404.unknown_path"
          | "405.method"
          | "400.bad_request"
          | "404.unknown_record"
          | "409.conflict"
          | "422.validation"
          | "422.idempotency_key";
        /**
         * From then on, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
         */
        after?: string;
        /**
         * Before then, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.
         */
        until?: string;
        /**
         * Every nth matching request: 10 means the tenth, the twentieth and so on.
         */
        every?: number;
        /**
         * Which of the requests that match, by their number: [3, 4]. The first is 1.
         *
         * @minItems 1
         * @maxItems 1000
         *
         * Items: The number of a request.
         */
        requests?: number[];
        /**
         * How likely it is, from 0 to 1; the seed and the number of the request decide.
         */
        probability?: number;
      };
      /**
       * What happens then: one thing or more.
       */
      then: {
        /**
         * How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }.
         */
        latency?:
          | string
          | {
              /**
               * At least this long. A duration such as 250ms or 2s.
               */
              min: string;
              /**
               * At most this long. A duration such as 250ms or 2s.
               */
              max: string;
            };
        /**
         * Answers with this status and the API's error body.
         */
        status?: 500 | 501 | 502 | 503 | 504;
        /**
         * With status: the API's error body, or a gateway's page. Default: json.
         */
        body?: "json" | "html";
        /**
         * Resets the connection.
         */
        reset?: boolean;
        /**
         * Leaves the request without an answer.
         */
        hang?: boolean;
        /**
         * Cuts the body short and closes the connection.
         */
        truncate?: boolean;
        /**
         * Answers 200 with broken JSON.
         */
        malformed?: boolean;
        /**
         * Sends the body at this many bytes per second.
         */
        slow?: number;
      };
      /**
       * Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0.
       */
      requests_matched?: number;
    }[];
    /**
     * Time passes. A duration such as 90s, 10m, 2h, 7d.
     */
    advance?: string;
    /**
     * The expected outcome of the step.
     */
    expect?: {
      /**
       * The status of the answer.
       */
      status?: number;
      /**
       * error.code of the answer; null for none.
       */
      code?: string | null;
      /**
       * The path on which the request ends.
       */
      path?:
        | "200.test"
        | "200.live"
        | "200.legacy"
        | "200.retiring"
        | "200.replacement"
        | "401.missing"
        | "401.malformed"
        | "401.unknown"
        | "401.revoked"
        | "401.expired"
        | "401.rotated"
        | "403.access_denied"
        | "403.live_not_approved"
        | "403.live_suspended"
        | "403.insufficient_scope"
        | "429.per_minute"
        | "429.per_day"
        | "404.unknown_path"
        | "405.method"
        | "400.bad_request"
        | "404.unknown_record"
        | "409.conflict"
        | "422.validation"
        | "422.idempotency_key"
        | "fault.latency"
        | "fault.status"
        | "fault.reset"
        | "fault.hang"
        | "fault.truncate"
        | "fault.malformed"
        | "fault.slow";
      /**
       * Headers of the answer: a value, true (it is there) or false (it is not).
       */
      headers?: {
        [k: string]: string | boolean;
      };
      /**
       * What the body holds: of mappings the members that are named, everything else exactly.
       */
      body?:
        | string
        | number
        | boolean
        | null
        | unknown[]
        | {
            [k: string]: unknown;
          };
      /**
       * After an action: the code with which it is refused.
       */
      error?:
        | "validation_failed"
        | "unknown_ref"
        | "not_an_administrator"
        | "sandbox_access_off"
        | "live_access_not_approved"
        | "key_limit_reached"
        | "key_not_active"
        | "name_taken"
        | "overlap_out_of_range"
        | "scopes_required"
        | "unknown_scope"
        | "consent_not_open"
        | "attestation_not_open";
    };
  }[];
}
