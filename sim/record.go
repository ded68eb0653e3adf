package sim

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"unicode"

	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim/expect"
)

var traceDir = flag.String("csisim.trace", "", "write a trace of each failed test's clusters to `DIR`")

// record writes the trace of a test's cluster if the test fails: as lines, as a report for a
// browser, or both.
type record struct {
	text  bytes.Buffer
	flush func() error  // nil without lines
	page  *view.Encoder // nil without a report
	sinks []trace.Sink
	made  trace.Versions

	failures []*expect.Failure // the failures of the test
}

// newRecord records nothing unless a flag requires it.
func newRecord(o Options) *record {
	r := &record{made: madeWith(o)}
	if *traceDir != "" {
		_, _ = r.made.WriteTo(&r.text) // a buffer
		var sink trace.Sink
		sink, r.flush = trace.Writer(&r.text)
		r.sinks = append(r.sinks, sink)
	}
	if *reportDir != "" {
		r.page = view.NewEncoder()
		r.sinks = append(r.sinks, r.page.Sink)
	}
	return r
}

// madeWith returns the versions of csisim and of the simulated Kubernetes.
func madeWith(o Options) trace.Versions {
	made := trace.Versions{Csisim: ownVersion()}
	if !isPromoted() {
		made.Kubernetes = cmp.Or(o.Kubernetes, version.Newest).String()
	}
	return made
}

// ownModule is the path of csisim's module.
const ownModule = "github.com/csisim/csisim"

// ownVersion returns the version of csisim's module in a test.
func ownVersion() string {
	build, _ := debug.ReadBuildInfo()
	if build != nil {
		for _, module := range build.Deps {
			if module.Path == ownModule {
				return module.Version
			}
		}
	}
	return "devel"
}

// end writes the record of a failed test, and prints its path.
func (r *record) end(t T) {
	t.Helper()
	if !t.Failed() {
		return
	}
	kept := func(what string, write func(test string) (string, error)) {
		name, err := write(t.Name())
		if err != nil {
			t.Errorf("write the %s: %v", what, err)
			return
		}
		t.Logf("the %s is in %s", what, name)
	}
	if r.flush != nil {
		kept("trace", r.write)
	}
	if r.page != nil {
		kept("report", r.writePage)
	}
}

// written counts the files of a test, by the test's name and the file extension.
var written struct {
	sync.Mutex
	of map[string]int
}

// write writes the trace.
func (r *record) write(test string) (string, error) {
	if err := r.flush(); err != nil {
		return "", err
	}
	path, err := placeOf(*traceDir, test, ".jsonl")
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, r.text.Bytes(), 0o644)
}

// placeOf returns a file in a directory named after a test. The files of the test's further
// clusters have a number.
func placeOf(dir, test, extension string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	written.Lock()
	defer written.Unlock()
	if written.of == nil {
		written.of = map[string]int{}
	}
	test += extension
	written.of[test]++
	name := strings.Map(inFileNames, strings.TrimSuffix(test, extension))
	if n := written.of[test]; n > 1 {
		name += fmt.Sprintf("-%d", n)
	}
	return filepath.Join(dir, name+extension), nil
}

// inFileNames keeps characters that are harmless in the name of a file.
func inFileNames(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
		return r
	}
	return '-'
}
