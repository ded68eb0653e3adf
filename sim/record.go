package sim

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/csisim/csisim/internal/world/trace"
)

var traceDir = flag.String("csisim.trace", "", "write a trace of each failed test's clusters to `DIR`")

// record is the trace of a test's cluster as it is written if the test fails.
type record struct {
	text  bytes.Buffer
	sink  trace.Sink
	flush func() error
}

// newRecord is nil if no traces are wanted.
func newRecord() *record {
	if *traceDir == "" {
		return nil
	}
	r := &record{}
	r.sink, r.flush = trace.Writer(&r.text)
	return r
}

func (r *record) sinks() []trace.Sink {
	if r == nil {
		return nil
	}
	return []trace.Sink{r.sink}
}

// end writes the trace of a test that failed, and says where it is.
func (r *record) end(t T) {
	t.Helper()
	if r == nil || !t.Failed() {
		return
	}
	name, err := r.write(t.Name())
	if err != nil {
		t.Errorf("write the trace: %v", err)
		return
	}
	t.Logf("the trace is in %s", name)
}

// written counts the traces of a test, by its name.
var written struct {
	sync.Mutex
	of map[string]int
}

// write makes a file that is named after the test; its further clusters get a number.
func (r *record) write(test string) (string, error) {
	if err := r.flush(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(*traceDir, 0o755); err != nil {
		return "", err
	}
	written.Lock()
	defer written.Unlock()
	if written.of == nil {
		written.of = map[string]int{}
	}
	written.of[test]++
	name := strings.Map(inFileNames, test)
	if n := written.of[test]; n > 1 {
		name += fmt.Sprintf("-%d", n)
	}
	path := filepath.Join(*traceDir, name+".jsonl")
	return path, os.WriteFile(path, r.text.Bytes(), 0o644)
}

// inFileNames keeps what is harmless in the name of a file.
func inFileNames(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
		return r
	}
	return '-'
}
