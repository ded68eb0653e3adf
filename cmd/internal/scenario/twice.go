package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// runTwice runs a scenario twice; the result is that of the first run, failed if the second one was not like it.
func runTwice(ctx context.Context, s *Scenario, o RunOptions) (*Result, error) {
	first, firstTrace := &kernel.Recorder{}, &bytes.Buffer{}
	result, err := runTraced(ctx, s, o, first, firstTrace)
	if err != nil {
		return result, err
	}
	second, secondTrace := first.Against(), &bytes.Buffer{}
	o.Sinks, o.Progress, o.Inspect = nil, nil, nil
	repeated, err := runTraced(ctx, s, o, second, secondTrace)
	if err != nil {
		return result, err
	}
	parted := second.Err()
	if parted == nil {
		parted = compareTraces(firstTrace.Bytes(), secondTrace.Bytes())
	}
	result.compare(repeated, parted)
	return result, nil
}

func runTraced(ctx context.Context, s *Scenario, o RunOptions, recorder *kernel.Recorder, to *bytes.Buffer) (*Result, error) {
	sink, flush := trace.Writer(to)
	o.Sinks = append(slices.Clone(o.Sinks), sink)
	result, err := runOnce(ctx, s, o, recorder)
	return result, errors.Join(err, flush())
}

// compareTraces finds the first line in which traces differ.
func compareTraces(first, second []byte) error {
	if bytes.Equal(first, second) {
		return nil
	}
	a, b := bytes.Split(first, []byte("\n")), bytes.Split(second, []byte("\n"))
	i := 0
	for i < len(a)-1 && i < len(b)-1 && bytes.Equal(a[i], b[i]) {
		i++
	}
	return fmt.Errorf("csisim is not deterministic: the traces differ in line %d\n  first run:  %s\n  second run: %s", i+1, a[i], b[i])
}

// compare adds a failure if the second run was not like this one: parted says where, and whether the driver or
// csisim made the difference.
func (r *Result) compare(second *Result, parted error) {
	r.Parted = parted
	var found []Failure
	switch {
	case parted != nil:
		verdict, rest, _ := strings.Cut(parted.Error(), "\n")
		found = []Failure{{Verdict: verdict, Got: rest}}
	case r.Exit == Passed:
		found = second.Failures
	}
	for _, f := range found {
		f.Verdict = "the second run was not like the first: " + f.Verdict
		f.File, f.Line = r.Scenario.File, max(f.Line, 1)
		r.Failures = append(r.Failures, f)
		r.Exit = Failed
	}
}
