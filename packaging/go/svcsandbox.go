// Package svcsandbox gives each test its own svc-sandbox.
package svcsandbox

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const ways = `Do one of these:
- put the executable svc-sandbox on the PATH
- load the image: docker pull ghcr.io/svc-sandbox/svc-sandbox
- with Node, install the npm package svc-sandbox where the tests run
- set SVC_SANDBOX_BIN to the executable, or to docker:<image>`

// Sandbox is a test's own sandbox. Its clock is frozen until the test moves it, unless Frozen(false) is set.
type Sandbox struct {
	ID         string
	BaseURL    string            `json:"base_url"`
	ControlURL string            `json:"control_url"`
	Keys       map[string]string // By ref.
	t          testing.TB
}

// Option is an option of New.
type Option func(options map[string]any)

// Scenario is a bundled scenario. Default: the one that the server was started with, or key-states.
func Scenario(name string) Option { return func(options map[string]any) { options["scenario"] = name } }

// Seed is the seed for all generated data.
func Seed(seed uint32) Option { return func(options map[string]any) { options["seed"] = seed } }

// Now is the start of the clock.
func Now(now time.Time) Option { return func(options map[string]any) { options["now"] = now.UTC() } }

// Frozen is whether the clock moves only when a test moves it. Default: true.
func Frozen(frozen bool) Option { return func(options map[string]any) { options["frozen"] = frozen } }

// Profile is minimal, typical or varied.
func Profile(name string) Option { return func(options map[string]any) { options["profile"] = name } }

// New starts a sandbox for one test, also for parallel tests.
func New(t testing.TB, chosen ...Option) *Sandbox {
	t.Helper()
	server.once.Do(func() {
		if err := start(); err != nil {
			server.failure = errors.New("svc-sandbox did not start: the first failure shows why")
			t.Fatal(err)
		}
	})
	if server.failure != nil {
		t.Fatal(server.failure)
	}
	options := map[string]any{"frozen": true}
	for _, choose := range chosen {
		choose(options)
	}
	instances, sandbox := &Sandbox{ControlURL: server.controlURL + "/instances", t: t}, &Sandbox{t: t}
	instances.Control("POST", "", options, sandbox)
	t.Cleanup(func() { instances.Control("DELETE", "/"+sandbox.ID, nil, nil) })
	return sandbox
}

// Key returns the key with a ref. No sandbox has the keys unknown and malformed, and the key none is empty: send no header.
func (s *Sandbox) Key(ref string) string {
	s.t.Helper()
	if key, found := s.Keys[ref]; found || ref == "none" {
		return key
	}
	refs := make([]string, 0, len(s.Keys))
	for other := range s.Keys {
		refs = append(refs, other)
	}
	sort.Strings(refs)
	s.t.Fatalf("No key %q. Keys: %s.", ref, strings.Join(refs, ", "))
	return ""
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

// Expect fails with the five nearest requests unless count requests have this path id and key.
func (s *Sandbox) Expect(pathID, ref string, count int) {
	s.t.Helper()
	s.Control("GET", fmt.Sprintf("/expect?path_id=%s&key=%s&count=%d", pathID, ref, count), nil, nil)
}

// Control calls the control plane. It stores the `data` of the response in data, unless that is nil.
func (s *Sandbox) Control(method, path string, body, data any) {
	s.t.Helper()
	if err := call(method, s.ControlURL+path, body, data); err != nil {
		s.t.Fatal(err)
	}
}

var server struct {
	once              sync.Once
	controlURL, token string
	failure           error
	// It ends when its stdin closes, even if the tests crash. Under exec there is none.
	process *exec.Cmd
	stdin   io.Closer
}

// Main runs the tests of a package, prints the report, and fails if it is below SVC_SANDBOX_MIN_COVERAGE. Call it from
// TestMain. Under `svc-sandbox exec`, exec does both.
func Main(m *testing.M) {
	code := m.Run()
	if server.process != nil {
		if err := report(); err != nil {
			fmt.Println("svc-sandbox:", err)
			code = 1
		}
		server.stdin.Close()
		_ = server.process.Wait()
	}
	os.Exit(code)
}

func report() error {
	var report struct {
		Coverage struct{ Percent float64 }
		Paths    []struct {
			ID            string `json:"path_id"`
			Promised, Covered bool
			Way           struct{ Ref string } `json:"how_to_cover"`
		}
	}
	if err := call("GET", server.controlURL+"/report", nil, &report); err != nil {
		return err
	}
	missed := []string{}
	for _, path := range report.Paths {
		if path.Promised && !path.Covered {
			missed = append(missed, path.ID+" ("+path.Way.Ref+")")
		}
	}
	// The text's last line, as exec prints it.
	var text string
	if err := call("GET", server.controlURL+"/report?format=text", nil, &text); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	fmt.Println("svc-sandbox: " + lines[len(lines)-1])
	if len(missed) > 0 {
		fmt.Println("Not covered (send the key): " + strings.Join(missed, ", "))
	}
	given := os.Getenv("SVC_SANDBOX_MIN_COVERAGE")
	if minimum, err := strconv.ParseFloat(given, 64); given != "" && (err != nil || report.Coverage.Percent < minimum) {
		return fmt.Errorf("the coverage is below SVC_SANDBOX_MIN_COVERAGE=%s", given)
	}
	return nil
}

func start() error {
	// Go repeats a cached result unless a variable or a file changed that the tests have read.
	for _, name := range []string{"MIN_COVERAGE", "SEED", "NOW", "PROFILE", "OPENAPI", "OPERATIONS", "CHANGES"} {
		_ = os.Getenv("SVC_SANDBOX_" + name)
	}
	_, _ = os.ReadDir(".")
	server.token = os.Getenv("SVC_SANDBOX_CONTROL_TOKEN")
	if server.controlURL = os.Getenv("SVC_CONTROL_URL"); server.controlURL != "" {
		return nil
	}
	found := program()
	words := []string{found, "start", "--until-stdin-ends", "--show-keys", "--quiet", "--port", "0"}
	if found == "" {
		return errors.New("svc-sandbox was not found. " + ways)
	} else if strings.HasPrefix(found, "docker:") {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		address := free.Addr().String()
		free.Close()
		folder, _ := os.Getwd()
		if server.token == "" {
			// A server that others can reach needs a token.
			random := make([]byte, 16)
			_, _ = rand.Read(random)
			server.token = fmt.Sprintf("%x", random)
		}
		words = append([]string{"docker", "run", "--rm", "--interactive", "--env", "SVC_SANDBOX_CONTROL_TOKEN", "--publish",
			address + ":4747", "--volume", folder + ":/sandbox:ro", found[len("docker:"):]}, words[1:5]...)
		words = append(words, "4747", "--public-url", "http://"+address)
	}
	command := exec.Command(words[0], words[1:]...)
	if server.token != "" {
		command.Env = append(os.Environ(), "SVC_SANDBOX_CONTROL_TOKEN="+server.token)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	server.stdin, _ = command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	var line Sandbox
	err := command.Start()
	if err == nil {
		if err = json.NewDecoder(stdout).Decode(&line); err != nil {
			_ = command.Wait()
		}
	}
	if failed := "`" + strings.Join(words, " ") + "` did not start svc-sandbox"; err != nil && command.Process == nil {
		return fmt.Errorf("%s: %w\n%s", failed, err, ways)
	} else if err != nil {
		return fmt.Errorf("%s:\n%s", failed, &stderr)
	}
	server.controlURL, server.process = line.ControlURL, command
	return nil
}

// program returns SVC_SANDBOX_BIN, svc-sandbox on the PATH, an image on this machine, or the package of npm.
func program() string {
	if given := os.Getenv("SVC_SANDBOX_BIN"); given != "" {
		return given
	}
	if found, err := exec.LookPath("svc-sandbox"); err == nil {
		return found
	}
	// Without docker or its daemon, it prints nothing.
	images, _ := exec.Command("docker", "images", "--format", "docker:{{.Repository}}:{{.Tag}}", "--filter",
		"reference=svc-sandbox", "--filter", "reference=ghcr.io/svc-sandbox/svc-sandbox").Output()
	if found := strings.Fields(string(images)); len(found) > 0 {
		return found[0]
	}
	for folder, _ := os.Getwd(); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if found, err := exec.LookPath(filepath.Join(folder, "node_modules/.bin/svc-sandbox")); err == nil {
			return found
		}
	}
	return ""
}

func call(method, url string, body, data any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		text = nil
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if server.token != "" {
		request.Header.Set("Authorization", "Bearer "+server.token)
	}
	client := http.DefaultClient
	// Under exec --tls.
	if file := os.Getenv("SVC_CA_FILE"); file != "" {
		certificates, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM(certificates)
		client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
		defer client.CloseIdleConnections()
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 400 {
		err = fmt.Errorf("%s %s: %s", method, url, text)
	}
	if plain, isText := data.(*string); isText {
		*plain = string(text)
	} else if err == nil && data != nil {
		err = json.Unmarshal(text, &struct{ Data any }{data})
	}
	return err
}
