package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const recording = "../../scenarios/golden/lifecycle-attach.jsonl"

func TestARecordingOfARealClusterIsShown(t *testing.T) {
	page := filepath.Join(t.TempDir(), "lifecycle.html")
	got := clitest.Run(t, "view", recording, "--output", page)
	require.Zero(t, got.Code, got.Stderr)
	assert.Empty(t, got.Stderr)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "<title>lifecycle-attach · csisim</title>")
	assert.Less(t, len(text), 400<<10)
}

// The readable part of a damaged trace is shown, and the unreadable lines are reported. A trace
// without any event is rejected.
func TestTheReadablePartOfADamagedTraceIsShown(t *testing.T) {
	whole, err := os.ReadFile(recording)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	for _, test := range []struct {
		name, trace string
		code        int
		said        string
	}{
		{"cut off", string(whole[:len(whole)-20]), 0, "is cut off: the trace was not written to its end"},
		{"with lines that are no JSON", lines[0] + "oh no\n" + lines[1], 0, "Line 2 is no JSON object: invalid character 'o'"},
		{"of a newer csisim", lines[0] + `{"t":1,"k":"quantum","msg":"leap"}` + "\n", 0, `Events of kind "quantum" are of a newer csisim`},
		{"with lines that are no events", lines[0] + `{"a":1}` + "\n", 0, "Line 2 has no kind (field k)"},
		{"empty", "", 2, "there is no event in it"},
		{"something else", "a: b\nc: d\n", 2, "no line of it is an event of a trace: line 1 is no JSON object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			file, page := filepath.Join(dir, "some.jsonl"), filepath.Join(dir, "page.html")
			require.NoError(t, os.WriteFile(file, []byte(test.trace), 0o600))
			got := clitest.Run(t, "view", file, "--output", page)
			assert.Equal(t, test.code, got.Code, got.Stderr)
			assert.Contains(t, got.Stderr, file+": ")
			assert.Contains(t, got.Stderr, test.said)
			if test.code != 0 {
				assert.NoFileExists(t, page)
				return
			}
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			assert.Contains(t, string(text), `"problems":[`)
		})
	}
}

// startView shows a trace until the test ends. It returns the address of the page, and a function
// that returns the stderr output so far.
func startView(t *testing.T, file string) (address string, stderr func() string) {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	c := clitest.Command(t.Context(), nil, "view", file)
	c.Stderr = said
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	stderr = func() string {
		text, err := os.ReadFile(said.Name())
		require.NoError(t, err)
		return string(text)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, stderr())
	t.Cleanup(func() {
		_ = c.Wait() // the command was interrupted
		assert.Zero(t, c.ProcessState.ExitCode(), stderr())
		assert.NoError(t, said.Close())
	})
	return strings.TrimSpace(strings.TrimPrefix(line, "See it in a browser: ")), stderr
}

// manyEvents writes a trace of some chunks, with a second line that is no event.
func manyEvents(t *testing.T) string {
	t.Helper()
	whole, err := os.ReadFile(recording)
	require.NoError(t, err)
	first, rest, _ := strings.Cut(string(whole), "\n")
	file := filepath.Join(t.TempDir(), "long.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(first+"\noh no\n"+rest+strings.Repeat(string(whole), 60)), 0o600))
	return file
}

func TestABrowserShowsATraceWhileItIsRead(t *testing.T) {
	browser := clitest.Browse(t, "view.mjs")
	file := manyEvents(t)
	address, stderr := startView(t, file)
	browser.Args = append(browser.Args, address, file)
	out, err := browser.CombinedOutput()
	assert.NoError(t, err, string(out))
	assert.Equal(t, "csisim: "+file+": Line 2 is no JSON object: invalid character 'o' looking for beginning of value.\n", stderr())
}

func TestAServedTraceNeedsTheTokenAndIsOnlyRead(t *testing.T) {
	address, _ := startView(t, manyEvents(t))
	page, token, _ := strings.Cut(address, "?token=")
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	ask := func(method, address string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		require.NoError(t, err)
		answer, err := browser.Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(text)
	}
	for _, path := range []string{"", "columns", "said?chunk=0", "search?q=a"} {
		code, _ := ask(http.MethodGet, page+path)
		assert.Equal(t, http.StatusUnauthorized, code, path)
	}
	code, _ := ask(http.MethodGet, page+"?token="+token)
	assert.Equal(t, http.StatusOK, code)
	code, said := ask(http.MethodGet, page+"said?chunk=0")
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, said, "NodePublishVolume")
	code, said = ask(http.MethodGet, page+"said?chunk=99")
	assert.Equal(t, http.StatusInternalServerError, code)
	assert.Contains(t, said, "there is no chunk 99")
	for _, path := range []string{"said?chunk=x", "search", "search?q="} {
		code, _ = ask(http.MethodGet, page+path)
		assert.Equal(t, http.StatusBadRequest, code, path)
	}
	for _, path := range []string{"", "columns", "said?chunk=0", "search?q=a"} {
		code, _ := ask(http.MethodPost, page+path)
		assert.Equal(t, http.StatusNotFound, code, path)
	}
}

// A trace that cannot be shown is rejected before anything is served.
func TestATraceWithoutEventsIsNotServed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for file, message := range map[string]string{empty: "there is no event in it", filepath.Dir(empty): "it is a directory", "nowhere.jsonl": "no such file or directory"} {
		got := clitest.Run(t, "view", file)
		assert.Equal(t, 2, got.Code)
		assert.Contains(t, got.Stderr, file+": ")
		assert.Contains(t, got.Stderr, message)
		assert.Empty(t, got.Stdout)
	}
}

// csisim announces a large trace before it packs it.
func TestALargeTraceIsAnnouncedBeforeItIsPacked(t *testing.T) {
	whole, err := os.ReadFile(recording)
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "large.jsonl")
	require.NoError(t, os.WriteFile(file, append(whole, bytes.Repeat([]byte(strings.Repeat(" ", 1<<10)+"\n"), 33<<10)...), 0o600))
	got := clitest.Run(t, "view", file, "--output", filepath.Join(dir, "page.html"))
	assert.Zero(t, got.Code)
	assert.Equal(t, "csisim: "+file+" has 34 MB: all of it goes into the page, which takes a while\n", got.Stderr)
}

func TestTwoTracesAreShownSideBySide(t *testing.T) {
	page := filepath.Join(t.TempDir(), "both.html")
	got := clitest.Run(t, "view", recording, "../../scenarios/golden/kubelet-restart.jsonl", "--output", page)
	require.Zero(t, got.Code, got.Stderr)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Regexp(t, `"sentence":"The two traces differ on \d of 7 levels\."`, string(text))

	simulated := filepath.Join(t.TempDir(), "simulated.jsonl")
	got = clitest.Run(t, "run", "../../scenarios/rwo-filesystem.yaml", "--trace", simulated)
	require.Zero(t, got.Code, got.Stderr)
	got = clitest.Run(t, "view", simulated, simulated, "--output", page)
	require.Zero(t, got.Code, got.Stderr)
	text, err = os.ReadFile(page)
	require.NoError(t, err)
	var pairs [][2]int
	found := regexp.MustCompile(`"pairs":(\[\[[0-9,\[\]]*\]\])`).FindSubmatch(text)
	require.NotNil(t, found, "calls that both have")
	require.NoError(t, json.Unmarshal(found[1], &pairs))
	lines, err := os.ReadFile(simulated)
	require.NoError(t, err)
	var events []string
	for line := range strings.Lines(string(lines)) {
		if strings.Contains(line, `"seq":`) {
			events = append(events, line)
		}
	}
	for _, p := range pairs {
		assert.Equal(t, p[0], p[1], "a trace beside itself")
		assert.Contains(t, events[p[0]], `"k":"csi"`)
	}
	got = clitest.Run(t, "view", recording, recording, "--output", page)
	require.Zero(t, got.Code, got.Stderr)
	text, err = os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "The two traces are equal on all levels.")
}
