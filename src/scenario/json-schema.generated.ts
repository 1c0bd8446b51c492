// Made by `npm run generate` from src/scenario/format/schema.ts. Do not edit.

/** The scenario file as JSON Schema 2020-12, for editors, for other languages, and for our own messages. */
export const scenarioJsonSchema: Readonly<Record<string, unknown>> = {
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "version": {
      "type": "number",
      "const": 1,
      "description": "The version of the scenario format."
    },
    "name": {
      "type": "string",
      "minLength": 1,
      "maxLength": 200,
      "description": "What the scenario is called, for people."
    },
    "description": {
      "type": "string",
      "maxLength": 2000,
      "description": "What the scenario shows."
    },
    "extends": {
      "type": "string",
      "minLength": 1,
      "maxLength": 200,
      "description": "Start from another scenario: a bundled name, or a file (relative to this one). Its story stays behind."
    },
    "seed": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "description": "Everything left out is derived from it. Default: 1."
    },
    "requests_answered": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "description": "Requests answered before the clock starts; request ids go on from there. Default: 0."
    },
    "clock": {
      "type": "object",
      "properties": {
        "now": {
          "type": "string",
          "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$",
          "description": "When the clock starts. Default: the real time. An ISO 8601 time with a zone."
        },
        "frozen": {
          "type": "boolean",
          "description": "Whether the clock stands still until it is moved. Default: false."
        }
      },
      "additionalProperties": false,
      "description": "The clock of the sandbox."
    },
    "default_key": {
      "type": "string",
      "maxLength": 64,
      "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
      "description": "The key that clients get when they ask for none. Default: the first key."
    },
    "assumptions": {
      "type": "object",
      "properties": {
        "profile": {
          "type": "string",
          "enum": [
            "minimal",
            "typical",
            "varied"
          ],
          "description": "The profile that sets all assumptions. Default: minimal."
        },
        "rate_limit_code": {
          "type": "string",
          "pattern": "^[A-Za-z][A-Za-z0-9_.-]*$",
          "description": "The error code of a 429. Default: \"rate_limited\"."
        },
        "request_id_on_errors": {
          "type": "boolean",
          "description": "Whether error responses carry X-Request-Id, too. Default: false."
        },
        "retry_after": {
          "type": "string",
          "enum": [
            "none",
            "seconds",
            "date"
          ],
          "description": "Whether a 429 says in Retry-After when to try again, and in which of its two forms. Default: \"none\"."
        },
        "rate_limit_headers": {
          "type": "string",
          "enum": [
            "none",
            "draft",
            "legacy"
          ],
          "description": "Which headers tell of limits on 200 and 429: RateLimit and RateLimit-Policy (draft), X-RateLimit-* (legacy), or none. Default: \"none\"."
        },
        "error_details": {
          "type": "boolean",
          "description": "Whether a 403 and a 429 say more in error.details. A 401 never does. Default: false."
        },
        "me_scope": {
          "anyOf": [
            {
              "type": "string",
              "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
              "description": "A scope name."
            },
            {
              "type": "null"
            }
          ],
          "description": "The scope that GET /v1/relying-party/me needs; null when it needs none. Default: \"attestations:read\"."
        },
        "scopes": {
          "minItems": 1,
          "maxItems": 100,
          "type": "array",
          "items": {
            "type": "string",
            "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
            "description": "A scope name."
          },
          "description": "All scope names that a key may be given. Default: [\"attestations:read\",\"attestations:write\",\"consents:read\",\"consents:write\"]."
        },
        "minute_window": {
          "type": "string",
          "enum": [
            "fixed",
            "sliding"
          ],
          "description": "How a minute is measured: fixed UTC minutes, or the 60 seconds before each request (sliding). Default: \"fixed\"."
        },
        "day_resets_at": {
          "type": "string",
          "pattern": "^(?:[01]\\d|2[0-3]):[0-5]\\d$",
          "description": "The time of day, in UTC, at which usage.today starts again from zero. Default: \"00:00\". HH:MM."
        },
        "count_refused": {
          "type": "boolean",
          "description": "Whether requests that are refused (401, 403, 429) count against the limits of the key they carried. Default: false."
        },
        "retiring_counts_as_active": {
          "type": "boolean",
          "description": "Whether a replaced key that is still in its overlap is one of the five active keys. Default: false."
        },
        "replacement_usage": {
          "type": "string",
          "enum": [
            "fresh",
            "inherited"
          ],
          "description": "Whether the replacement of a rotated key starts with no usage, or with the old key's. Default: \"fresh\"."
        },
        "www_authenticate": {
          "type": "boolean",
          "description": "Whether a 401 carries WWW-Authenticate, as HTTP asks of it (RFC 9110). Default: false."
        },
        "default_expiry": {
          "type": "string",
          "pattern": "^none$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
          "description": "How long after its creation a key expires that is created or rotated while the sandbox runs. Default: \"none\"."
        }
      },
      "additionalProperties": false,
      "description": "The choices made where the specification is silent."
    },
    "faults": {
      "maxItems": 100,
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "when": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "Requests with this key."
              },
              "organization": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "Requests with a key of this organization."
              },
              "path_id": {
                "type": "string",
                "enum": [
                  "200.test",
                  "200.live",
                  "200.legacy",
                  "200.retiring",
                  "200.replacement",
                  "401.missing",
                  "401.malformed",
                  "401.unknown",
                  "401.revoked",
                  "401.expired",
                  "401.rotated",
                  "403.access_denied",
                  "403.live_not_approved",
                  "403.live_suspended",
                  "403.insufficient_scope",
                  "429.per_minute",
                  "429.per_day",
                  "404.unknown_path",
                  "405.method",
                  "400.bad_request",
                  "404.unknown_record",
                  "409.conflict",
                  "422.validation",
                  "422.idempotency_key"
                ],
                "description": "Requests that would end on this path without the fault."
              },
              "after": {
                "type": "string",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                "description": "From then on, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
              },
              "until": {
                "type": "string",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                "description": "Before then, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
              },
              "every": {
                "type": "integer",
                "minimum": 1,
                "maximum": 9007199254740991,
                "description": "Every nth matching request: 10 means the tenth, the twentieth and so on."
              },
              "requests": {
                "minItems": 1,
                "maxItems": 1000,
                "type": "array",
                "items": {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 9007199254740991,
                  "description": "The number of a request."
                },
                "description": "Which of the requests that match, by their number: [3, 4]. The first is 1."
              },
              "probability": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "How likely it is, from 0 to 1; the seed and the number of the request decide."
              }
            },
            "additionalProperties": false,
            "description": "Which requests it hits: all that is given must hold. Default: every request."
          },
          "then": {
            "type": "object",
            "properties": {
              "latency": {
                "anyOf": [
                  {
                    "type": "string",
                    "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                    "description": "Always this long. A duration such as 250ms or 2s."
                  },
                  {
                    "type": "object",
                    "properties": {
                      "min": {
                        "type": "string",
                        "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                        "description": "At least this long. A duration such as 250ms or 2s."
                      },
                      "max": {
                        "type": "string",
                        "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                        "description": "At most this long. A duration such as 250ms or 2s."
                      }
                    },
                    "required": [
                      "min",
                      "max"
                    ],
                    "additionalProperties": false
                  }
                ],
                "description": "How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }."
              },
              "status": {
                "type": "number",
                "enum": [
                  500,
                  501,
                  502,
                  503,
                  504
                ],
                "description": "Answers with this status and the API's error body."
              },
              "body": {
                "type": "string",
                "enum": [
                  "json",
                  "html"
                ],
                "description": "With status: the API's error body, or a gateway's page. Default: json."
              },
              "reset": {
                "type": "boolean",
                "description": "Resets the connection."
              },
              "hang": {
                "type": "boolean",
                "description": "Leaves the request without an answer."
              },
              "truncate": {
                "type": "boolean",
                "description": "Cuts the body short and closes the connection."
              },
              "malformed": {
                "type": "boolean",
                "description": "Answers 200 with broken JSON."
              },
              "slow": {
                "type": "integer",
                "minimum": 1,
                "maximum": 9007199254740991,
                "description": "Sends the body at this many bytes per second."
              }
            },
            "additionalProperties": false,
            "description": "What happens then: one thing or more."
          },
          "requests_matched": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9007199254740991,
            "description": "Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0."
          }
        },
        "required": [
          "then"
        ],
        "additionalProperties": false,
        "description": "A fault: which requests it hits, and what happens then."
      },
      "description": "What goes wrong between the client and the API. Of several faults the first one that hits counts."
    },
    "organizations": {
      "type": "object",
      "propertyNames": {
        "type": "string",
        "maxLength": 64,
        "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
        "description": "The organization's ref."
      },
      "additionalProperties": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "The name of the organization. Left out: invented from the seed and the ref."
          },
          "id": {
            "type": "string",
            "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            "description": "A UUID in lower case. Left out: derived from the seed and the ref."
          },
          "type": {
            "type": "string",
            "enum": [
              "bank",
              "insurer"
            ],
            "description": "The kind of relying party."
          },
          "status": {
            "type": "string",
            "enum": [
              "active",
              "inactive"
            ],
            "description": "Whether the organization may use the API. Default: active."
          },
          "sandbox_access": {
            "type": "boolean",
            "description": "Whether test keys can be created for it. Default: true."
          },
          "live_access": {
            "type": "string",
            "enum": [
              "not_approved",
              "approved",
              "suspended"
            ],
            "description": "Where it stands with live access. Default: not_approved."
          },
          "keys": {
            "type": "object",
            "propertyNames": {
              "type": "string",
              "maxLength": 64,
              "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
              "description": "The key's ref, unique in the whole scenario."
            },
            "additionalProperties": {
              "type": "object",
              "properties": {
                "environment": {
                  "type": "string",
                  "enum": [
                    "test",
                    "live"
                  ],
                  "description": "The environment that the key belongs to; its prefix says the same."
                },
                "name": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 200,
                  "description": "The name of the key. Left out: invented from the seed and the ref."
                },
                "scopes": {
                  "minItems": 1,
                  "maxItems": 100,
                  "type": "array",
                  "items": {
                    "type": "string",
                    "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
                    "description": "A scope name."
                  },
                  "description": "The scopes granted to the key. Default: [attestations:read]."
                },
                "limits": {
                  "type": "object",
                  "properties": {
                    "per_minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests allowed per minute; 0 answers 429 always. Default: 60."
                    },
                    "per_day": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests allowed per day; 0 answers 429 always. Default: 1000."
                    }
                  },
                  "additionalProperties": false,
                  "description": "The limits of the key."
                },
                "usage": {
                  "type": "object",
                  "properties": {
                    "this_minute": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests already counted in the minute in which the clock starts. Default: 0."
                    },
                    "today": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Requests already counted today. Default: the value of this_minute."
                    },
                    "counted_at": {
                      "type": "array",
                      "items": {
                        "type": "string",
                        "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$",
                        "description": "When a request was counted. An ISO 8601 time with a zone."
                      },
                      "description": "For minute_window: sliding, when the requests of this_minute were counted, oldest first; snapshots write it. Default: all when the clock starts."
                    }
                  },
                  "additionalProperties": false,
                  "description": "What the key has already used when the clock starts."
                },
                "state": {
                  "type": "string",
                  "enum": [
                    "active",
                    "revoked",
                    "expired",
                    "retiring",
                    "rotated"
                  ],
                  "description": "The state in which the key starts. Default: active."
                },
                "expires": {
                  "type": "string",
                  "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                  "description": "When the key expires. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                },
                "legacy": {
                  "type": "boolean",
                  "description": "Whether the key has a legacy prefix. Default: false."
                },
                "replaced_by": {
                  "type": "string",
                  "maxLength": 64,
                  "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                  "description": "The key that replaced this one."
                },
                "overlap_ends": {
                  "type": "string",
                  "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                  "description": "When a retiring key ends. Default: 60m. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                },
                "secret": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 200,
                  "description": "The full key. Left out: derived from the seed and the ref."
                },
                "sha256": {
                  "type": "string",
                  "pattern": "^[0-9a-f]{64}$",
                  "description": "The SHA-256 of the full key instead of the key; snapshots write it for keys made at run time."
                }
              },
              "additionalProperties": false,
              "description": "An API key."
            },
            "description": "Its API keys, by ref."
          }
        },
        "additionalProperties": false,
        "description": "A relying party: a bank or an insurer."
      },
      "description": "The relying parties of this world, by ref."
    },
    "population": {
      "type": "object",
      "properties": {
        "organizations": {
          "type": "integer",
          "minimum": 0,
          "maximum": 100000,
          "description": "How many organizations there are besides those that are described, under the refs organization-1, organization-2, …: every third one is an insurer, the others are banks. Default: 0."
        },
        "keys_per_organization": {
          "type": "integer",
          "minimum": 0,
          "maximum": 10,
          "description": "How many keys each of them has, under the refs organization-1-key-1, …: test, live, test, …; an organization with a live key is approved. Default: 1."
        },
        "farmers": {
          "type": "integer",
          "minimum": 0,
          "maximum": 4294967295,
          "description": "How many synthetic farmers there are. Default: 1000."
        },
        "locale": {
          "type": "string",
          "enum": [
            "en",
            "en_GH",
            "en_IN",
            "en_NG",
            "es",
            "es_MX",
            "fr",
            "fr_SN",
            "id",
            "id_ID",
            "pt",
            "pt_BR",
            "tr",
            "uk",
            "vi"
          ],
          "description": "Where the farmers live: a locale, or all of a language. Default: everywhere."
        },
        "as_of": {
          "type": "string",
          "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$",
          "description": "The time on which the dates of the farmers hang; snapshots write it. Default: when the clock starts. An ISO 8601 time with a zone."
        }
      },
      "additionalProperties": false,
      "description": "Organizations, keys and farmers by their number."
    },
    "preview": {
      "type": "boolean",
      "description": "Whether there is a preview of the announced endpoints, consent requests and attestations; their shapes are a guess. Default: false."
    },
    "consents": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "organization": {
            "type": "string",
            "maxLength": 64,
            "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
            "description": "The organization that asks; always with a test key, since live keys see no farmers here."
          },
          "farmer": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9007199254740991,
            "description": "The farmer, by number: 0 is the first one."
          },
          "purpose": {
            "type": "object",
            "properties": {
              "code": {
                "type": "string",
                "enum": [
                  "credit_assessment",
                  "insurance_underwriting",
                  "claim_assessment",
                  "monitoring"
                ],
                "description": "What kind of purpose."
              },
              "text": {
                "type": "string",
                "minLength": 1,
                "maxLength": 500,
                "description": "What the farmer reads."
              }
            },
            "required": [
              "code",
              "text"
            ],
            "additionalProperties": false,
            "description": "What the data is wanted for. Default: a credit assessment."
          },
          "permissions": {
            "minItems": 1,
            "maxItems": 6,
            "type": "array",
            "items": {
              "type": "string",
              "enum": [
                "identity",
                "land",
                "production",
                "livestock",
                "insurance",
                "loans"
              ],
              "description": "What may be attested."
            },
            "description": "What the farmer is asked to have attested. Default: [identity]."
          },
          "created_at": {
            "type": "string",
            "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
            "description": "When it was made. Default: when the clock starts. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
          },
          "expires_at": {
            "type": "string",
            "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
            "description": "When the consent ends, whatever the answer. Default: 90 days after it was made. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
          },
          "deeds": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "at": {
                  "type": "string",
                  "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                  "description": "When it was done. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                },
                "do": {
                  "type": "string",
                  "enum": [
                    "grant",
                    "reject",
                    "revoke",
                    "cancel"
                  ],
                  "description": "What the farmer (grant, reject, revoke) or the relying party (cancel) did."
                }
              },
              "required": [
                "at",
                "do"
              ],
              "additionalProperties": false,
              "description": "Something that was done about the request."
            },
            "description": "What was done about it, in order."
          },
          "suspensions": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "at": {
                  "type": "string",
                  "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$",
                  "description": "When it happened. An ISO 8601 time with a zone."
                },
                "permission": {
                  "type": "string",
                  "enum": [
                    "identity",
                    "land",
                    "production",
                    "livestock",
                    "insurance",
                    "loans"
                  ],
                  "description": "Of which attestation."
                },
                "suspended": {
                  "type": "boolean",
                  "description": "Whether it was suspended, or its suspension ended."
                }
              },
              "required": [
                "at",
                "permission",
                "suspended"
              ],
              "additionalProperties": false,
              "description": "An attestation was suspended, or its suspension ended."
            },
            "description": "What happened to its attestations, in order; snapshots write it."
          },
          "idempotency": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 255,
                "pattern": "^[\\x20-\\x7e]+$",
                "description": "The Idempotency-Key with which it was made."
              },
              "sha256": {
                "type": "string",
                "pattern": "^[0-9a-f]{64}$",
                "description": "The SHA-256 of what its body said; snapshots write it. Left out: no other body is the same."
              }
            },
            "required": [
              "key"
            ],
            "additionalProperties": false,
            "description": "How a client can send the request again without making another one."
          }
        },
        "required": [
          "organization",
          "farmer"
        ],
        "additionalProperties": false,
        "description": "A consent request."
      },
      "description": "Consent requests that exist when the clock starts; needs preview: true."
    },
    "timeline": {
      "maxItems": 1000,
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "at": {
            "type": "string",
            "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
            "description": "When it happens. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
          },
          "create_key": {
            "type": "object",
            "properties": {
              "organization": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The organization that the key is for."
              },
              "environment": {
                "type": "string",
                "enum": [
                  "test",
                  "live"
                ],
                "description": "The environment of the key."
              },
              "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "The name of the key."
              },
              "scopes": {
                "type": "array",
                "items": {
                  "type": "string",
                  "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
                  "description": "A scope name."
                },
                "description": "Default: [attestations:read]."
              },
              "limits": {
                "type": "object",
                "properties": {
                  "per_minute": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 9007199254740991,
                    "description": "Requests allowed per minute; 0 answers 429 always. Default: 60."
                  },
                  "per_day": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 9007199254740991,
                    "description": "Requests allowed per day; 0 answers 429 always. Default: 1000."
                  }
                },
                "additionalProperties": false,
                "description": "The limits of the key."
              },
              "ref": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "How to call the key from now on. Default: made from its name."
              },
              "expires": {
                "type": "string",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                "description": "When the key expires. A duration counts from the step. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
              },
              "actor": {
                "type": "string",
                "enum": [
                  "administrator",
                  "member"
                ],
                "description": "Who does it in the dashboard; only administrators may (R33). Default: administrator."
              }
            },
            "required": [
              "organization",
              "environment",
              "name"
            ],
            "additionalProperties": false,
            "description": "An administrator creates a key."
          },
          "rotate": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The key to replace."
              },
              "as": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "How to call the replacement. Default: the old ref with the next free number."
              },
              "overlap": {
                "type": "string",
                "pattern": "^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                "description": "How long the old key goes on working: 0s to 7d; 0s ends it at once. Default: 60m. A duration such as 90s, 10m, 2h, 7d."
              },
              "actor": {
                "type": "string",
                "enum": [
                  "administrator",
                  "member"
                ],
                "description": "Who does it in the dashboard; only administrators may (R33). Default: administrator."
              }
            },
            "required": [
              "key"
            ],
            "additionalProperties": false,
            "description": "An administrator replaces a key by a new one."
          },
          "revoke": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The key to revoke."
              },
              "actor": {
                "type": "string",
                "enum": [
                  "administrator",
                  "member"
                ],
                "description": "Who does it in the dashboard; only administrators may (R33). Default: administrator."
              }
            },
            "required": [
              "key"
            ],
            "additionalProperties": false,
            "description": "An administrator revokes a key."
          },
          "organization": {
            "type": "object",
            "properties": {
              "ref": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The organization."
              },
              "status": {
                "type": "string",
                "enum": [
                  "active",
                  "inactive"
                ],
                "description": "Whether the organization may use the API."
              },
              "sandbox_access": {
                "type": "boolean",
                "description": "Whether test keys can be created for it."
              },
              "live_access": {
                "type": "string",
                "enum": [
                  "not_approved",
                  "approved",
                  "suspended"
                ],
                "description": "Where it stands with live access."
              }
            },
            "required": [
              "ref"
            ],
            "additionalProperties": false,
            "description": "Something about an organization changes."
          },
          "consent": {
            "type": "object",
            "properties": {
              "farmer": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "The farmer, by number: 0 is the first one."
              },
              "do": {
                "type": "string",
                "enum": [
                  "grant",
                  "reject",
                  "revoke"
                ],
                "description": "What the farmer does about the newest consent request that allows it."
              },
              "organization": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The organization that asked. Default: any."
              }
            },
            "required": [
              "farmer",
              "do"
            ],
            "additionalProperties": false,
            "description": "A farmer decides about a consent request; needs preview: true."
          },
          "faults": {
            "maxItems": 100,
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "when": {
                  "type": "object",
                  "properties": {
                    "key": {
                      "type": "string",
                      "maxLength": 64,
                      "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                      "description": "Requests with this key."
                    },
                    "organization": {
                      "type": "string",
                      "maxLength": 64,
                      "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                      "description": "Requests with a key of this organization."
                    },
                    "path_id": {
                      "type": "string",
                      "enum": [
                        "200.test",
                        "200.live",
                        "200.legacy",
                        "200.retiring",
                        "200.replacement",
                        "401.missing",
                        "401.malformed",
                        "401.unknown",
                        "401.revoked",
                        "401.expired",
                        "401.rotated",
                        "403.access_denied",
                        "403.live_not_approved",
                        "403.live_suspended",
                        "403.insufficient_scope",
                        "429.per_minute",
                        "429.per_day",
                        "404.unknown_path",
                        "405.method",
                        "400.bad_request",
                        "404.unknown_record",
                        "409.conflict",
                        "422.validation",
                        "422.idempotency_key"
                      ],
                      "description": "Requests that would end on this path without the fault."
                    },
                    "after": {
                      "type": "string",
                      "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                      "description": "From then on, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                    },
                    "until": {
                      "type": "string",
                      "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                      "description": "Before then, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                    },
                    "every": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 9007199254740991,
                      "description": "Every nth matching request: 10 means the tenth, the twentieth and so on."
                    },
                    "requests": {
                      "minItems": 1,
                      "maxItems": 1000,
                      "type": "array",
                      "items": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 9007199254740991,
                        "description": "The number of a request."
                      },
                      "description": "Which of the requests that match, by their number: [3, 4]. The first is 1."
                    },
                    "probability": {
                      "type": "number",
                      "minimum": 0,
                      "maximum": 1,
                      "description": "How likely it is, from 0 to 1; the seed and the number of the request decide."
                    }
                  },
                  "additionalProperties": false,
                  "description": "Which requests it hits: all that is given must hold. Default: every request."
                },
                "then": {
                  "type": "object",
                  "properties": {
                    "latency": {
                      "anyOf": [
                        {
                          "type": "string",
                          "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                          "description": "Always this long. A duration such as 250ms or 2s."
                        },
                        {
                          "type": "object",
                          "properties": {
                            "min": {
                              "type": "string",
                              "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                              "description": "At least this long. A duration such as 250ms or 2s."
                            },
                            "max": {
                              "type": "string",
                              "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                              "description": "At most this long. A duration such as 250ms or 2s."
                            }
                          },
                          "required": [
                            "min",
                            "max"
                          ],
                          "additionalProperties": false
                        }
                      ],
                      "description": "How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }."
                    },
                    "status": {
                      "type": "number",
                      "enum": [
                        500,
                        501,
                        502,
                        503,
                        504
                      ],
                      "description": "Answers with this status and the API's error body."
                    },
                    "body": {
                      "type": "string",
                      "enum": [
                        "json",
                        "html"
                      ],
                      "description": "With status: the API's error body, or a gateway's page. Default: json."
                    },
                    "reset": {
                      "type": "boolean",
                      "description": "Resets the connection."
                    },
                    "hang": {
                      "type": "boolean",
                      "description": "Leaves the request without an answer."
                    },
                    "truncate": {
                      "type": "boolean",
                      "description": "Cuts the body short and closes the connection."
                    },
                    "malformed": {
                      "type": "boolean",
                      "description": "Answers 200 with broken JSON."
                    },
                    "slow": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 9007199254740991,
                      "description": "Sends the body at this many bytes per second."
                    }
                  },
                  "additionalProperties": false,
                  "description": "What happens then: one thing or more."
                },
                "requests_matched": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 9007199254740991,
                  "description": "Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0."
                }
              },
              "required": [
                "then"
              ],
              "additionalProperties": false,
              "description": "A fault: which requests it hits, and what happens then."
            },
            "description": "What goes wrong between the client and the API. Of several faults the first one that hits counts."
          },
          "expect": {
            "type": "object",
            "properties": {
              "error": {
                "type": "string",
                "enum": [
                  "validation_failed",
                  "unknown_ref",
                  "not_an_administrator",
                  "sandbox_access_off",
                  "live_access_not_approved",
                  "key_limit_reached",
                  "key_not_active",
                  "name_taken",
                  "overlap_out_of_range",
                  "scopes_required",
                  "unknown_scope",
                  "consent_not_open",
                  "attestation_not_open"
                ],
                "description": "The code with which the action is refused."
              }
            },
            "required": [
              "error"
            ],
            "additionalProperties": false,
            "description": "The expected outcome of the action. Default: any; a refusal stops nothing."
          }
        },
        "required": [
          "at"
        ],
        "additionalProperties": false,
        "description": "One thing that happens, and when."
      },
      "description": "What happens by itself as the clock passes, in order."
    },
    "story": {
      "maxItems": 1000,
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "say": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2000,
            "description": "What the narrator says."
          },
          "request": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The ref of the key to send, or none (no key), malformed, or unknown (a key that does not exist). Default: the default key."
              },
              "method": {
                "type": "string",
                "pattern": "^[A-Z]{1,20}$",
                "description": "The method, in upper case. Default: GET."
              },
              "path": {
                "type": "string",
                "pattern": "^\\/[!-~]{0,1000}$",
                "description": "The path, and a query if there is one. Default: /v1/relying-party/me."
              },
              "headers": {
                "type": "object",
                "propertyNames": {
                  "type": "string",
                  "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
                  "description": "The name of a header."
                },
                "additionalProperties": {
                  "type": "string",
                  "pattern": "^[\\t\\x20-\\x7e\\x80-\\xff]*$",
                  "description": "The value of a header."
                },
                "description": "More headers. The key goes into key instead."
              },
              "body": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "number"
                  },
                  {
                    "type": "boolean"
                  },
                  {
                    "type": "null"
                  },
                  {
                    "type": "array",
                    "items": {}
                  },
                  {
                    "type": "object",
                    "propertyNames": {
                      "type": "string"
                    },
                    "additionalProperties": {}
                  }
                ],
                "description": "A body: a text is sent as it is, all else as JSON."
              },
              "repeat": {
                "type": "integer",
                "minimum": 1,
                "maximum": 10000,
                "description": "How many times to send the request, one after the other; expect is about the last answer. Default: 1."
              }
            },
            "additionalProperties": false,
            "description": "A client sends a request to the API."
          },
          "create_key": {
            "type": "object",
            "properties": {
              "organization": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The organization that the key is for."
              },
              "environment": {
                "type": "string",
                "enum": [
                  "test",
                  "live"
                ],
                "description": "The environment of the key."
              },
              "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "The name of the key."
              },
              "scopes": {
                "type": "array",
                "items": {
                  "type": "string",
                  "pattern": "^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$",
                  "description": "A scope name."
                },
                "description": "Default: [attestations:read]."
              },
              "limits": {
                "type": "object",
                "properties": {
                  "per_minute": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 9007199254740991,
                    "description": "Requests allowed per minute; 0 answers 429 always. Default: 60."
                  },
                  "per_day": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 9007199254740991,
                    "description": "Requests allowed per day; 0 answers 429 always. Default: 1000."
                  }
                },
                "additionalProperties": false,
                "description": "The limits of the key."
              },
              "ref": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "How to call the key from now on. Default: made from its name."
              },
              "expires": {
                "type": "string",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                "description": "When the key expires. A duration counts from the step. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
              },
              "actor": {
                "type": "string",
                "enum": [
                  "administrator",
                  "member"
                ],
                "description": "Who does it in the dashboard; only administrators may (R33). Default: administrator."
              }
            },
            "required": [
              "organization",
              "environment",
              "name"
            ],
            "additionalProperties": false,
            "description": "An administrator creates a key."
          },
          "rotate": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The key to replace."
              },
              "as": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "How to call the replacement. Default: the old ref with the next free number."
              },
              "overlap": {
                "type": "string",
                "pattern": "^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                "description": "How long the old key goes on working: 0s to 7d; 0s ends it at once. Default: 60m. A duration such as 90s, 10m, 2h, 7d."
              },
              "actor": {
                "type": "string",
                "enum": [
                  "administrator",
                  "member"
                ],
                "description": "Who does it in the dashboard; only administrators may (R33). Default: administrator."
              }
            },
            "required": [
              "key"
            ],
            "additionalProperties": false,
            "description": "An administrator replaces a key by a new one."
          },
          "revoke": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The key to revoke."
              },
              "actor": {
                "type": "string",
                "enum": [
                  "administrator",
                  "member"
                ],
                "description": "Who does it in the dashboard; only administrators may (R33). Default: administrator."
              }
            },
            "required": [
              "key"
            ],
            "additionalProperties": false,
            "description": "An administrator revokes a key."
          },
          "organization": {
            "type": "object",
            "properties": {
              "ref": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The organization."
              },
              "status": {
                "type": "string",
                "enum": [
                  "active",
                  "inactive"
                ],
                "description": "Whether the organization may use the API."
              },
              "sandbox_access": {
                "type": "boolean",
                "description": "Whether test keys can be created for it."
              },
              "live_access": {
                "type": "string",
                "enum": [
                  "not_approved",
                  "approved",
                  "suspended"
                ],
                "description": "Where it stands with live access."
              }
            },
            "required": [
              "ref"
            ],
            "additionalProperties": false,
            "description": "Something about an organization changes."
          },
          "consent": {
            "type": "object",
            "properties": {
              "farmer": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "The farmer, by number: 0 is the first one."
              },
              "do": {
                "type": "string",
                "enum": [
                  "grant",
                  "reject",
                  "revoke"
                ],
                "description": "What the farmer does about the newest consent request that allows it."
              },
              "organization": {
                "type": "string",
                "maxLength": 64,
                "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                "description": "The organization that asked. Default: any."
              }
            },
            "required": [
              "farmer",
              "do"
            ],
            "additionalProperties": false,
            "description": "A farmer decides about a consent request; needs preview: true."
          },
          "faults": {
            "maxItems": 100,
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "when": {
                  "type": "object",
                  "properties": {
                    "key": {
                      "type": "string",
                      "maxLength": 64,
                      "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                      "description": "Requests with this key."
                    },
                    "organization": {
                      "type": "string",
                      "maxLength": 64,
                      "pattern": "^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$",
                      "description": "Requests with a key of this organization."
                    },
                    "path_id": {
                      "type": "string",
                      "enum": [
                        "200.test",
                        "200.live",
                        "200.legacy",
                        "200.retiring",
                        "200.replacement",
                        "401.missing",
                        "401.malformed",
                        "401.unknown",
                        "401.revoked",
                        "401.expired",
                        "401.rotated",
                        "403.access_denied",
                        "403.live_not_approved",
                        "403.live_suspended",
                        "403.insufficient_scope",
                        "429.per_minute",
                        "429.per_day",
                        "404.unknown_path",
                        "405.method",
                        "400.bad_request",
                        "404.unknown_record",
                        "409.conflict",
                        "422.validation",
                        "422.idempotency_key"
                      ],
                      "description": "Requests that would end on this path without the fault."
                    },
                    "after": {
                      "type": "string",
                      "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                      "description": "From then on, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                    },
                    "until": {
                      "type": "string",
                      "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2})$|^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                      "description": "Before then, by the sandbox's clock. A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone."
                    },
                    "every": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 9007199254740991,
                      "description": "Every nth matching request: 10 means the tenth, the twentieth and so on."
                    },
                    "requests": {
                      "minItems": 1,
                      "maxItems": 1000,
                      "type": "array",
                      "items": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 9007199254740991,
                        "description": "The number of a request."
                      },
                      "description": "Which of the requests that match, by their number: [3, 4]. The first is 1."
                    },
                    "probability": {
                      "type": "number",
                      "minimum": 0,
                      "maximum": 1,
                      "description": "How likely it is, from 0 to 1; the seed and the number of the request decide."
                    }
                  },
                  "additionalProperties": false,
                  "description": "Which requests it hits: all that is given must hold. Default: every request."
                },
                "then": {
                  "type": "object",
                  "properties": {
                    "latency": {
                      "anyOf": [
                        {
                          "type": "string",
                          "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                          "description": "Always this long. A duration such as 250ms or 2s."
                        },
                        {
                          "type": "object",
                          "properties": {
                            "min": {
                              "type": "string",
                              "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                              "description": "At least this long. A duration such as 250ms or 2s."
                            },
                            "max": {
                              "type": "string",
                              "pattern": "^\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
                              "description": "At most this long. A duration such as 250ms or 2s."
                            }
                          },
                          "required": [
                            "min",
                            "max"
                          ],
                          "additionalProperties": false
                        }
                      ],
                      "description": "How long the answer waits, in real time: a duration such as 250ms, or a range { min: 100ms, max: 2s }."
                    },
                    "status": {
                      "type": "number",
                      "enum": [
                        500,
                        501,
                        502,
                        503,
                        504
                      ],
                      "description": "Answers with this status and the API's error body."
                    },
                    "body": {
                      "type": "string",
                      "enum": [
                        "json",
                        "html"
                      ],
                      "description": "With status: the API's error body, or a gateway's page. Default: json."
                    },
                    "reset": {
                      "type": "boolean",
                      "description": "Resets the connection."
                    },
                    "hang": {
                      "type": "boolean",
                      "description": "Leaves the request without an answer."
                    },
                    "truncate": {
                      "type": "boolean",
                      "description": "Cuts the body short and closes the connection."
                    },
                    "malformed": {
                      "type": "boolean",
                      "description": "Answers 200 with broken JSON."
                    },
                    "slow": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 9007199254740991,
                      "description": "Sends the body at this many bytes per second."
                    }
                  },
                  "additionalProperties": false,
                  "description": "What happens then: one thing or more."
                },
                "requests_matched": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 9007199254740991,
                  "description": "Requests that matched before the clock starts, for every and requests; snapshots write it. Default: 0."
                }
              },
              "required": [
                "then"
              ],
              "additionalProperties": false,
              "description": "A fault: which requests it hits, and what happens then."
            },
            "description": "What goes wrong between the client and the API. Of several faults the first one that hits counts."
          },
          "advance": {
            "type": "string",
            "pattern": "^[+-]?\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$",
            "description": "Time passes. A duration such as 90s, 10m, 2h, 7d."
          },
          "expect": {
            "type": "object",
            "properties": {
              "status": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "The status of the answer."
              },
              "code": {
                "description": "error.code of the answer; null for none.",
                "type": [
                  "string",
                  "null"
                ]
              },
              "path": {
                "type": "string",
                "enum": [
                  "200.test",
                  "200.live",
                  "200.legacy",
                  "200.retiring",
                  "200.replacement",
                  "401.missing",
                  "401.malformed",
                  "401.unknown",
                  "401.revoked",
                  "401.expired",
                  "401.rotated",
                  "403.access_denied",
                  "403.live_not_approved",
                  "403.live_suspended",
                  "403.insufficient_scope",
                  "429.per_minute",
                  "429.per_day",
                  "404.unknown_path",
                  "405.method",
                  "400.bad_request",
                  "404.unknown_record",
                  "409.conflict",
                  "422.validation",
                  "422.idempotency_key",
                  "fault.latency",
                  "fault.status",
                  "fault.reset",
                  "fault.hang",
                  "fault.truncate",
                  "fault.malformed",
                  "fault.slow"
                ],
                "description": "The path on which the request ends."
              },
              "headers": {
                "type": "object",
                "propertyNames": {
                  "type": "string",
                  "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
                  "description": "The name of a header."
                },
                "additionalProperties": {
                  "type": [
                    "string",
                    "boolean"
                  ]
                },
                "description": "Headers of the answer: a value, true (it is there) or false (it is not)."
              },
              "body": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "number"
                  },
                  {
                    "type": "boolean"
                  },
                  {
                    "type": "null"
                  },
                  {
                    "type": "array",
                    "items": {}
                  },
                  {
                    "type": "object",
                    "propertyNames": {
                      "type": "string"
                    },
                    "additionalProperties": {}
                  }
                ],
                "description": "What the body holds: of mappings the members that are named, everything else exactly."
              },
              "error": {
                "type": "string",
                "enum": [
                  "validation_failed",
                  "unknown_ref",
                  "not_an_administrator",
                  "sandbox_access_off",
                  "live_access_not_approved",
                  "key_limit_reached",
                  "key_not_active",
                  "name_taken",
                  "overlap_out_of_range",
                  "scopes_required",
                  "unknown_scope",
                  "consent_not_open",
                  "attestation_not_open"
                ],
                "description": "After an action: the code with which it is refused."
              }
            },
            "additionalProperties": false,
            "description": "The expected outcome of the step."
          }
        },
        "additionalProperties": false,
        "description": "A step does one thing: say, request, advance or an action."
      },
      "description": "A script to tell, step by step: what play shows and verify proves."
    }
  },
  "required": [
    "version"
  ],
  "additionalProperties": false,
  "description": "A scenario of svc-sandbox: one world.",
  "if": {
    "required": [
      "extends"
    ]
  },
  "else": {
    "properties": {
      "organizations": {
        "additionalProperties": {
          "required": [
            "type"
          ],
          "properties": {
            "keys": {
              "additionalProperties": {
                "required": [
                  "environment"
                ]
              }
            }
          }
        }
      }
    }
  }
};
