// Package svcsandbox gives each test an isolated svc-sandbox. Copy this folder into your module; it needs Go 1.18.
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

// Sandbox is an isolated sandbox. Its clock stands still until it is moved, unless it is not frozen.
type Sandbox struct {
	BaseURL string
	// Keys by their refs.
	Keys       map[string]string
	t          testing.TB
	controlURL string
}

// Option chooses what a sandbox is made with.
type Option func(options map[string]any)

// Scenario is a bundled one. Default: the one that `svc-sandbox exec -- go test` runs, or key-states.
func Scenario(name string) Option { return func(options map[string]any) { options["scenario"] = name } }

// Seed of everything invented.
func Seed(seed uint32) Option { return func(options map[string]any) { options["seed"] = seed } }

// Now is when the clock starts.
func Now(now time.Time) Option {
	return func(options map[string]any) { options["now"] = now.UTC().Format(time.RFC3339Nano) }
}

// Frozen is whether the clock stands still until it is moved. Default: true.
func Frozen(frozen bool) Option { return func(options map[string]any) { options["frozen"] = frozen } }

// Profile is minimal, typical or varied.
func Profile(name string) Option { return func(options map[string]any) { options["profile"] = name } }

// New starts a sandbox for one test, which may run in parallel with others.
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
		s.t.Fatalf("There is no key %q, but %s.", ref, strings.Join(refs, ", "))
	}
	return key
}

// Advance moves the sandbox's clock on.
func (s *Sandbox) Advance(by time.Duration) {
	s.t.Helper()
	s.Control("POST", "/clock/advance", map[string]string{"by": fmt.Sprintf("%dms", by.Milliseconds())}, nil)
}

// Statuses tells how the requests with a key ended, oldest first.
func (s *Sandbox) Statuses(ref string) []int {
	s.t.Helper()
	var requests []struct{ Status int }
	s.Control("GET", "/requests?key="+ref, nil, &requests)
	statuses := []int{}
	for _, request := range requests {
		statuses = append(statuses, request.Status)
	}
	return statuses
}

// Control is a call of the control plane; what is in its `data` is written to data, unless that is nil.
func (s *Sandbox) Control(method, path string, body, data any) {
	s.t.Helper()
	send(s.t, method, s.controlURL+path, body, data)
}

var server struct {
	once       sync.Once
	controlURL string
	failure    error
	// The sandbox ends when its stdin does: with the test's process, however that ends.
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
		what := strings.Join(command.Args, " ") + " did not start, and SVC_SANDBOX_BIN names another program"
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
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 400 {
		err = fmt.Errorf("%s %s: %s", method, url, answer)
	}
	if err == nil && data != nil {
		err = json.Unmarshal(answer, &struct{ Data any }{data})
	}
	if err != nil {
		t.Fatal(err)
	}
}
