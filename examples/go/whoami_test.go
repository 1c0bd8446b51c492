package whoami

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"example.com/whoami/svcsandbox"
)

// The client.
func whoami(t *testing.T, baseURL, key string) int {
	t.Helper()
	request, _ := http.NewRequest("GET", baseURL+"/v1/relying-party/me", nil)
	request.Header.Set("x-api-key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestEveryResponse(t *testing.T) {
	statuses := map[string]int{
		"active": 200, "revoked": 401, "expired": 401, "rotated": 401, "wrong-scope": 403,
		"live-not-approved": 403, "live-suspended": 403, "organization-inactive": 403, "rate-limited": 429,
	}
	for ref, status := range statuses {
		ref, status := ref, status
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			sandbox := svcsandbox.New(t)
			if got := whoami(t, sandbox.BaseURL, sandbox.Key(ref)); got != status {
				t.Errorf("got %d, want %d", got, status)
			}
		})
	}
}

func TestAUsedUpMinuteEnds(t *testing.T) {
	sandbox := svcsandbox.New(t)
	key := sandbox.Key("rate-limited-minute")
	whoami(t, sandbox.BaseURL, key)
	sandbox.Advance(time.Minute)
	whoami(t, sandbox.BaseURL, key)
	if got := sandbox.Statuses("rate-limited-minute"); !reflect.DeepEqual(got, []int{429, 200}) {
		t.Errorf("got %v", got)
	}
}

func TestNoTestSeesAnother(t *testing.T) {
	one, other := svcsandbox.New(t), svcsandbox.New(t)
	one.Control("POST", "/keys/active/revoke", map[string]any{}, nil)
	if a, b := whoami(t, one.BaseURL, one.Key("active")), whoami(t, other.BaseURL, other.Key("active")); a != 401 || b != 200 {
		t.Errorf("got %d and %d", a, b)
	}
}

func TestAnotherScenario(t *testing.T) {
	if _, found := svcsandbox.New(t, svcsandbox.Scenario("rotation")).Keys["active"]; found {
		t.Error("The scenario has an unexpected key.")
	}
}

func TestEveryOption(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	sandbox := svcsandbox.New(t, svcsandbox.Scenario("active"), svcsandbox.Seed(7), svcsandbox.Now(now),
		svcsandbox.Frozen(false), svcsandbox.Profile("typical"))
	var state struct {
		Seed  int
		Clock struct {
			Now    time.Time
			Frozen bool
		}
		Assumptions struct{ Profile string }
	}
	sandbox.Control("GET", "/state", nil, &state)
	if state.Seed != 7 || state.Clock.Frozen || state.Clock.Now.Sub(now) > time.Hour || state.Assumptions.Profile != "typical" {
		t.Errorf("got %+v", state)
	}
}
