// Package svcsandbox gives each test its own svc-sandbox. Copy this folder into your module; it needs Go 1.18.
package svcsandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
)

// Sandbox is a test's own sandbox. Its clock is frozen until the test moves it, unless Frozen(false) is set.
type Sandbox struct {
	BaseURL string
	// Keys by ref.
	Keys       map[string]string
	t          testing.TB
	controlURL string
}

// Option is an option of New.
type Option func(options map[string]any)

// Scenario is a bundled scenario. Default: the scenario of `svc-sandbox exec -- go test`, or key-states.
func Scenario(name string) Option { return func(options map[string]any) { options["scenario"] = name } }

// Seed is the seed for all generated data.
func Seed(seed uint32) Option { return func(options map[string]any) { options["seed"] = seed } }

// Now is the start of the clock.
func Now(now time.Time) Option {
	return func(options map[string]any) { options["now"] = now.UTC().Format(time.RFC3339Nano) }
}

// Frozen is whether the clock moves only when a test moves it. Default: true.
func Frozen(frozen bool) Option { return func(options map[string]any) { options["frozen"] = frozen } }

// Profile is minimal, typical or varied.
func Profile(name string) Option { return func(options map[string]any) { options["profile"] = name } }

// New starts a sandbox for one test, also for parallel tests.
func New(t testing.TB, chosen ...Option) *Sandbox {
	t.Helper()
	server.once.Do(start)
	if server.failure != nil {
		t.Fatal(server.failure)
	}
	options := map[string]any{"frozen": true}
	for _, choose := range chosen {
		choose(options)
	}
	var started struct {
		ID         string            `json:"id"`
		BaseURL    string            `json:"base_url"`
		ControlURL string            `json:"control_url"`
		Keys       map[string]string `json:"keys"`
	}
	send(t, "POST", server.controlURL+"/instances", options, &started)
	t.Cleanup(func() { send(t, "DELETE", server.controlURL+"/instances/"+started.ID, nil, nil) })
	return &Sandbox{BaseURL: started.BaseURL, Keys: started.Keys, t: t, controlURL: started.ControlURL}
}

// Key returns the key with a ref.
func (s *Sandbox) Key(ref string) string {
	s.t.Helper()
	key, found := s.Keys[ref]
	if !found {
		refs := make([]string, 0, len(s.Keys))
		for other := range s.Keys {
			refs = append(refs, other)
		}
		sort.Strings(refs)
		s.t.Fatalf("No key %q. Keys: %s.", ref, strings.Join(refs, ", "))
	}
	return key
}

// Advance moves the sandbox's clock forward.
func (s *Sandbox) Advance(by time.Duration) {
	s.t.Helper()
	s.Control("POST", "/clock/advance", map[string]string{"by": fmt.Sprintf("%dms", by.Milliseconds())}, nil)
}

// Statuses returns the statuses of the requests with a key, oldest first. A request and its retries after faults count
// once.
func (s *Sandbox) Statuses(ref string) []int {
	s.t.Helper()
	var requests []struct{ Status int }
	s.Control("GET", "/requests?faults=false&key="+ref, nil, &requests)
	statuses := []int{}
	for _, request := range requests {
		statuses = append(statuses, request.Status)
	}
	return statuses
}

// Control calls the control plane. It stores the `data` of the response in data, unless that is nil.
func (s *Sandbox) Control(method, path string, body, data any) {
	s.t.Helper()
	send(s.t, method, s.controlURL+path, body, data)
}

var server struct {
	once       sync.Once
	controlURL string
	failure    error
	// The sandbox ends when its stdin closes, even if the tests crash.
	stdin io.Closer
}

func start() {
	if server.controlURL = os.Getenv("SVC_CONTROL_URL"); server.controlURL != "" {
		return
	}
	command := exec.Command("npx", "--no-install", "svc-sandbox")
	if found, err := exec.LookPath("svc-sandbox"); err == nil {
		command = exec.Command(found)
	}
	if given := os.Getenv("SVC_SANDBOX_BIN"); given != "" {
		command = exec.Command(given)
	}
	command.Args = append(command.Args, "start", "--until-stdin-ends", "--port", "0", "--quiet")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	server.stdin, _ = command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	err := command.Start()
	if err == nil {
		var line struct {
			ControlURL string `json:"control_url"`
		}
		err = json.NewDecoder(stdout).Decode(&line)
		server.controlURL = line.ControlURL
	}
	if err != nil {
		_ = command.Wait()
		what := strings.Join(command.Args, " ") + " did not start (to use another program, set SVC_SANDBOX_BIN)"
		server.failure = fmt.Errorf("%s: %w\n%s", what, err, stderr.String())
	}
}

func send(t testing.TB, method, url string, body, data any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("SVC_SANDBOX_CONTROL_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 400 {
		err = fmt.Errorf("%s %s: %s", method, url, text)
	}
	if err == nil && data != nil {
		err = json.Unmarshal(text, &struct{ Data any }{data})
	}
	if err != nil {
		t.Fatal(err)
	}
}
