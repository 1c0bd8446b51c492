// Package svcsandbox gives each test its own svc-sandbox.
package svcsandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
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
	BaseURL    string
	ControlURL string
	Keys       map[string]string // By ref.
	scenario   string            // For messages.
	process    *process
	t          testing.TB
}

// Option is an option of New.
type Option func(options map[string]any)

// Scenario is a bundled scenario. Default: svc-sandbox.yaml of the package's folder or of the nearest one above it, up to that
// of go.mod; without such a file, key-states.
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
	process, err := processes.take()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { processes.giveBack(process) })
	options := map[string]any{"frozen": true, "scenario": process.scenario}
	for _, choose := range chosen {
		choose(options)
	}
	scenario := fmt.Sprint(options["scenario"])
	if scenario == process.scenario {
		scenario += ", that of " + process.folder
	}
	sandbox := &Sandbox{
		BaseURL: process.baseURL, ControlURL: process.controlURL, scenario: scenario, process: process, t: t,
	}
	sandbox.Control("POST", "/reset", options, sandbox)
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
	s.t.Fatalf("No key %q in the scenario %s. Keys: %s.", ref, s.scenario, strings.Join(refs, ", "))
	return ""
}

// Advance moves the sandbox's clock forward.
func (s *Sandbox) Advance(by time.Duration) {
	s.t.Helper()
	s.AdvanceBy(fmt.Sprintf("%dms", by.Milliseconds()))
}

// AdvanceBy moves the sandbox's clock forward by a duration as scenarios write it, such as "10m" or "7d".
func (s *Sandbox) AdvanceBy(duration string) {
	s.t.Helper()
	s.Control("POST", "/clock/advance", map[string]string{"by": duration}, nil)
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

// Expect fails unless count requests have this outcome and key.
func (s *Sandbox) Expect(outcome, ref string, count int) {
	s.t.Helper()
	s.Control("GET", fmt.Sprintf("/expect?outcome=%s&key=%s&count=%d", outcome, ref, count), nil, nil)
}

// Control calls the control plane. It stores the `data` of the response in data, unless that is nil.
func (s *Sandbox) Control(method, path string, body, data any) {
	s.t.Helper()
	if err := s.process.call(method, path, body, data); err != nil {
		s.t.Fatal(err)
	}
}

// A process of svc-sandbox ends when its stdin closes, even if the tests crash.
type process struct {
	baseURL, controlURL, scenario string
	folder                        string
	stdin                         io.Closer
	command                       *exec.Cmd
	stderr                        *bytes.Buffer
	ended                         chan struct{}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

type pool struct {
	starting, changing sync.Mutex
	all, idle          []*process
	token              string
	failure            error
}

var processes pool

// take returns an idle process, or a new one.
func (p *pool) take() (*process, error) {
	if idle := p.takeIdle(); idle != nil {
		return idle, nil
	}
	p.starting.Lock()
	defer p.starting.Unlock()
	// A test may have ended while another process started.
	if idle := p.takeIdle(); idle != nil {
		return idle, nil
	} else if p.failure != nil {
		return nil, p.failure
	}
	started, err := p.start()
	if err != nil {
		p.failure = errors.New("svc-sandbox did not start: the first failure shows why")
		return nil, err
	}
	p.all = append(p.all, started)
	return started, nil
}

func (p *pool) takeIdle() *process {
	p.changing.Lock()
	defer p.changing.Unlock()
	for len(p.idle) > 0 {
		last := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if !last.hasEnded() {
			return last
		}
	}
	return nil
}

func (p *pool) giveBack(used *process) {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.idle = append(p.idle, used)
}

// Main runs the tests of a package, prints the report, and fails if it is below SVC_SANDBOX_MIN_COVERAGE. Call it from
// TestMain. Under `svc-sandbox exec`, exec does both.
func Main(m *testing.M) {
	minimum, err := minimumCoverage()
	if err != nil {
		fmt.Println("svc-sandbox:", err)
		os.Exit(1)
	}
	code := m.Run()
	logVariables()
	if os.Getenv("SVC_SANDBOX_RUN") == "" {
		if err := report(minimum); err != nil {
			fmt.Println("svc-sandbox:", err)
			code = 1
		}
	}
	for _, one := range processes.all {
		one.stdin.Close()
	}
	for _, one := range processes.all {
		<-one.ended
	}
	os.Exit(code)
}

// logVariables lets Go know what a result depends on in which no test used a sandbox: it logs only what tests read, and
// repeats the result unless that has changed.
func logVariables() {
	name := flag.Lookup("test.testlogfile")
	if name == nil || name.Value.String() == "" {
		return
	}
	if log, err := os.OpenFile(name.Value.String(), os.O_APPEND|os.O_WRONLY, 0); err == nil {
		fmt.Fprint(log, "getenv SVC_SANDBOX_MIN_COVERAGE\ngetenv SVC_SANDBOX_RUN\n")
		log.Close()
	}
}

// minimumCoverage is 0 without SVC_SANDBOX_MIN_COVERAGE.
func minimumCoverage() (int, error) {
	given := os.Getenv("SVC_SANDBOX_MIN_COVERAGE")
	if given == "" {
		return 0, nil
	}
	minimum, err := strconv.ParseUint(given, 10, 7)
	if err != nil || minimum > 100 {
		return 0, fmt.Errorf("SVC_SANDBOX_MIN_COVERAGE=%s is not a whole number from 0 to 100", given)
	}
	return int(minimum), nil
}

func report(minimum int) error {
	if len(processes.all) == 0 && minimum > 0 {
		return fmt.Errorf("no test used it: nothing is covered, and SVC_SANDBOX_MIN_COVERAGE is %d", minimum)
	} else if len(processes.all) == 0 {
		return nil
	}
	var report struct {
		Coverage struct{ Percent int }
		Outcomes []struct {
			ID                string `json:"outcome"`
			Promised, Covered bool
			How               *struct{ Ref, Scenario string } `json:"how_to_cover"`
		}
	}
	reports := []string{}
	for _, one := range processes.all {
		var text string
		if one.hasEnded() {
			continue
		}
		// A report tells how to cover the rest with what runs: the scenario of the folder, not that of the last test.
		reset := map[string]any{"scenario": one.scenario, "frozen": true}
		if err := one.call("POST", "/reset", reset, nil); err != nil {
			return err
		} else if err := one.call("GET", "/report?format=json", nil, &text); err != nil {
			return err
		}
		reports = append(reports, text)
	}
	text, err := merge(reports, "json")
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err == nil {
		text, err = merge(reports, "text")
	}
	if err != nil {
		return err
	}
	// What to do, and the outcomes that it covers.
	ways, missed := []string{}, map[string][]string{}
	for _, row := range report.Outcomes {
		if !row.Promised || row.Covered {
			continue
		}
		way, shown := "", row.ID
		if row.How != nil {
			way, shown = " (send the key)", row.ID+" ("+row.How.Ref+")"
		}
		// The scenario of the folder may not have the key.
		if row.How != nil && row.How.Scenario != "" {
			way = fmt.Sprintf(" (with Scenario(%q), send the key)", row.How.Scenario)
		}
		if missed[way] == nil {
			ways = append(ways, way)
		}
		missed[way] = append(missed[way], shown)
	}
	// The text's last line, as exec prints it.
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	fmt.Println("svc-sandbox: " + lines[len(lines)-1])
	for _, way := range ways {
		fmt.Println("Not covered" + way + ": " + strings.Join(missed[way], ", "))
	}
	if report.Coverage.Percent < minimum {
		return fmt.Errorf("the coverage is below SVC_SANDBOX_MIN_COVERAGE=%d", minimum)
	}
	return nil
}

// merge merges JSON reports, as the command `report --merge` does.
func merge(reports []string, format string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "svc-sandbox-reports-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	found := program()
	words, inside := []string{found}, folder
	if strings.HasPrefix(found, "docker:") {
		words, inside = inImage(found, folder), "/sandbox"
		// The user of the image must read it.
		if err := os.Chmod(folder, 0o755); err != nil {
			return nil, err
		}
	}
	words = append(words, "report", "--merge", "--format", format)
	for index, text := range reports {
		name := fmt.Sprintf("%d.json", index)
		words = append(words, inside+"/"+name)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	command := exec.Command(words[0], words[1:]...)
	// A minimum is for the caller.
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SVC_SANDBOX_") {
			command.Env = append(command.Env, variable)
		}
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	merged, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("`%s` failed: %w\n%s", strings.Join(words, " "), err, &stderr)
	}
	return merged, nil
}

func inImage(program, folder string, options ...string) []string {
	words := append([]string{"docker", "run", "--rm", "--interactive"}, options...)
	return append(words, "--volume", folder+":/sandbox:ro", strings.TrimPrefix(program, "docker:"))
}

func (p *pool) start() (*process, error) {
	// Go repeats a cached result unless a variable or a file changed that the tests have read.
	for _, name := range []string{"RUN", "MIN_COVERAGE", "SEED", "NOW", "PROFILE", "OPERATIONS", "CHANGES"} {
		_ = os.Getenv("SVC_SANDBOX_" + name)
	}
	_, _ = os.ReadDir(".")
	folder := projectFolder()
	if len(p.all) == 0 {
		p.token = os.Getenv("SVC_SANDBOX_CONTROL_TOKEN")
	}
	found := program()
	words := []string{found, "start", "--until-stdin-ends", "--show-keys", "--quiet", "--port", "0"}
	if found == "" {
		return nil, errors.New("svc-sandbox was not found. " + ways)
	} else if strings.HasPrefix(found, "docker:") {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		address := free.Addr().String()
		free.Close()
		if p.token == "" {
			// A server that others can reach needs a token.
			random := make([]byte, 16)
			_, _ = rand.Read(random)
			p.token = fmt.Sprintf("%x", random)
		}
		image := inImage(found, folder, "--env", "SVC_SANDBOX_CONTROL_TOKEN", "--publish", address+":4747")
		words = append(append(image, words[1:6]...), "4747", "--public-url", "http://"+address)
	} else if err := usable(); err != nil {
		return nil, err
	}
	command := exec.Command(words[0], words[1:]...)
	command.Dir = folder
	if p.token != "" {
		command.Env = append(os.Environ(), "SVC_SANDBOX_CONTROL_TOKEN="+p.token)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdin, _ := command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	var line struct {
		Scenario   string
		BaseURL    string `json:"base_url"`
		ControlURL string `json:"control_url"`
	}
	err := command.Start()
	if err == nil {
		if err = json.NewDecoder(stdout).Decode(&line); err != nil {
			_ = command.Wait()
		}
	}
	if failed := "`" + strings.Join(words, " ") + "` did not start svc-sandbox"; err != nil && command.Process == nil {
		return nil, fmt.Errorf("%s: %w\n%s", failed, err, ways)
	} else if err != nil {
		return nil, fmt.Errorf("%s:\n%s", failed, &stderr)
	}
	started := &process{
		line.BaseURL, line.ControlURL, line.Scenario, folder, stdin, command, &stderr, make(chan struct{}),
	}
	go func() {
		_ = command.Wait()
		close(started.ended)
	}()
	return started, nil
}

// projectFolder is the nearest folder with a scenario, from the package's upwards to that of go.mod; without one, the
// package's.
func projectFolder() string {
	working, _ := os.Getwd()
	for folder := working; ; folder = filepath.Dir(folder) {
		for _, name := range []string{"svc-sandbox.yaml", "svc-sandbox.yml"} {
			// Go repeats a cached result unless a file changed that the tests have read.
			if _, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
				return folder
			}
		}
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil || folder == filepath.Dir(folder) {
			return working
		}
	}
}

// usable returns an error if a variable is set with which no test reaches its sandbox.
func usable() error {
	for _, name := range []string{"HOST", "TLS", "CERT", "PUBLIC_URL"} {
		switch strings.ToLower(os.Getenv("SVC_SANDBOX_" + name)) {
		case "", "0", "false", "no", "off":
		default:
			return fmt.Errorf("SVC_SANDBOX_%s is set, and the sandboxes of tests are on 127.0.0.1, over HTTP, with a "+
				"control plane. Unset it", name)
		}
	}
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

// call calls the control plane, as Sandbox.Control does.
func (p *process) call(method, path string, body, data any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		text = nil
	}
	request, err := http.NewRequest(method, p.controlURL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if processes.token != "" {
		request.Header.Set("Authorization", "Bearer "+processes.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return p.whyNoResponse(err)
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 400 {
		err = fmt.Errorf("%s %s: %s", method, request.URL, text)
	}
	if plain, isText := data.(*string); isText {
		*plain = string(text)
	} else if err == nil && data != nil {
		err = json.Unmarshal(text, &struct{ Data any }{data})
	}
	return err
}

// whyNoResponse says how the process has ended, or returns the error of the connection if it runs.
func (p *process) whyNoResponse(err error) error {
	select {
	case <-p.ended:
		return fmt.Errorf("svc-sandbox ended (%s)\n%s", p.command.ProcessState, p.stderr)
	case <-time.After(time.Second):
		return err
	}
}
