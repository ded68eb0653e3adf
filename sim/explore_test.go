package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// life runs a volume's life in an explored test, with a driver that makes mistakes.
func life(t sim.T, explored sim.Option, mistakes ...string) {
	c := sim.New(t, explored, sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev", Faulty: mistakes}))
	c.Apply(web)
	c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
	c.Delete("pod/web", "pvc/web")
	c.Settle()
}

// outer is the T of a test that explores.
type outer struct {
	example
	errors, logs []string
}

func (o *outer) Name() string { return "TestLife/outer" }
func (o *outer) Failed() bool { return len(o.errors) > 0 }
func (o *outer) Errorf(format string, args ...any) {
	o.errors = append(o.errors, fmt.Sprintf(format, args...))
}
func (o *outer) Logf(format string, args ...any) {
	o.logs = append(o.logs, fmt.Sprintf(format, args...))
}

func TestAnExploredTestKeepsItsFindingAndTriesItFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	o := sim.Exploration{Runs: 25, Faults: []fault.Kind{fault.Lost}}
	faulty := func(t sim.T, explored sim.Option) { life(t, explored, "attach-not-idempotent") }

	first := &outer{}
	sim.Explore(first, o, faulty)
	require.NotEmpty(t, first.errors)
	all := strings.Join(first.errors, "\n")
	assert.Contains(t, all, "ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev: answer lost\n")
	assert.Contains(t, all, "timed out waiting for the condition: pod web in phase Running")
	assert.Contains(t, all, "The next go test tries this first: testdata/explore/TestLife-outer/")
	kept, err := filepath.Glob("testdata/explore/TestLife-outer/*.yaml")
	require.NoError(t, err)
	assert.Len(t, kept, len(first.errors))

	second := &outer{}
	sim.Explore(second, o, faulty)
	require.Len(t, second.errors, 1)
	assert.Contains(t, second.errors[0], "it fails as it did before, with the decisions of "+kept[0])

	mended := &outer{}
	sim.Explore(mended, o, func(t sim.T, explored sim.Option) { life(t, explored) })
	assert.Empty(t, mended.errors)
	assert.Equal(t, []string{"explored 25 runs, 0 findings"}, mended.logs)

	require.NoError(t, os.WriteFile(kept[0], []byte("test: x\nfailure: 7\n"), 0o600))
	broken := &outer{}
	sim.Explore(broken, o, faulty)
	require.Len(t, broken.errors, 1)
	assert.Contains(t, broken.errors[0], kept[0]+":2:10: failure: found number 7")
}

// A kept file still fits after small changes of the test. If it no longer fits, the test fails,
// because otherwise it would check nothing.
func TestAKeptFailureThatDoesNotFitFailsTheTest(t *testing.T) {
	const lost = "test: TestLife-outer\nfailure: 'timed out waiting for the condition: pod … in phase Running'\nchoices:\n- {kind: fault, of: %q, nth: 1, takes: %s}\n"
	const attach = "ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev"
	// From an object that was created after that time.
	const create = "CreateVolume of pvc-281a4091-0000-4000-8000-0000000000ff by mock.csi.csisim.dev"
	for name, c := range map[string]struct {
		kept, want string
		mistakes   []string
	}{
		"still there":       {fmt.Sprintf(lost, attach, "answer lost"), "it fails as it did before, with the decisions of testdata/", []string{"attach-not-idempotent"}},
		"by another uid":    {fmt.Sprintf(lost, create, "answer lost"), "it fails otherwise than before (timed out waiting for the condition: pod … in phase Running), with", []string{"create-not-idempotent"}},
		"no such call":      {fmt.Sprintf(lost, attach+".example", "answer lost"), "x.yaml does not fit any more: choice 1 (" + attach + ".example: answer lost) never came up: there was " + `"` + attach + `"`, nil},
		"no such fault":     {fmt.Sprintf(lost, attach, "moon"), `x.yaml does not fit any more: choice 1 (` + attach + `: moon): there is no "moon", there are `, nil},
		"of another test":   {strings.Replace(fmt.Sprintf(lost, attach, "answer lost"), "TestLife-outer", "TestMove", 1), "x.yaml is a failure of TestMove, not of TestLife-outer", nil},
		"of csisim explore": {"finding: x\nscenario: made.yaml\nchoices: []\n", "x.yaml:1:1: ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.MkdirAll("testdata/explore/TestLife-outer", 0o700))
			require.NoError(t, os.WriteFile("testdata/explore/TestLife-outer/x.yaml", []byte(c.kept), 0o600))
			o := &outer{}
			sim.Explore(o, sim.Exploration{Runs: 3}, func(t sim.T, explored sim.Option) { life(t, explored, c.mistakes...) })
			require.Len(t, o.errors, 1)
			assert.Contains(t, o.errors[0], c.want)
		})
	}
}

func TestATestThatFailsCalmlyIsNotExplored(t *testing.T) {
	for name, test := range map[string]func(sim.T, sim.Option){
		"Errorf":  func(t sim.T, _ sim.Option) { t.Errorf("wrong") },
		"FailNow": func(t sim.T, _ sim.Option) { t.Errorf("wrong"); t.FailNow(); panic("it went on") },
		"panic":   func(sim.T, sim.Option) { panic("wrong") },
		"cleanup": func(t sim.T, _ sim.Option) { t.Cleanup(func() { t.Errorf("wrong") }) },
	} {
		o := &outer{}
		sim.Explore(o, sim.Exploration{Runs: 3}, test)
		require.Len(t, o.errors, 1, name)
		assert.Contains(t, o.errors[0], "it fails in the calm run, without any fault, so it was not explored:\n", name)
		assert.Contains(t, o.errors[0], "wrong", name)
	}
}

// faults returns the faults that the bytes of a run cause.
func faults(t *testing.T, data []byte) (injected []string) {
	c := sim.New(t, sim.WithBytes(data, fault.Lost), sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev"}), func(o *sim.Options) {
		o.Sinks = append(o.Sinks, func(e *trace.Event) {
			if e.Injected != "" {
				injected = append(injected, e.Method)
			}
		})
	})
	c.Apply(web)
	c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
	c.Delete("pod/web", "pvc/web")
	return injected
}

func TestBytesDecideTheFaults(t *testing.T) {
	assert.Empty(t, faults(t, nil))
	assert.Empty(t, faults(t, []byte{0, 0, 0}), "too few for a decision")
	assert.Equal(t, []string{"Controller/CreateVolume"}, faults(t, []byte{0, 0, 0, 0}))
	assert.Equal(t, []string{"Controller/CreateVolume"}, faults(t, []byte{0, 0, 8, 0}), "no number is out of a run's reach")
	assert.Equal(t, []string{"Controller/CreateVolume", "Node/NodeStageVolume"}, faults(t, []byte{0, 0, 0, 0, 3, 3, 0, 9}))
	assert.Empty(t, faults(t, []byte{1, 7, 0, 1, 2, 30, 0, 1}), "another order, another delay")
}

// A volume lives under other orders of processes and with faults.
func ExampleExplore() {
	t := &example{} // a test's own *testing.T
	sim.Explore(t, sim.Exploration{Runs: 20}, func(t sim.T, explored sim.Option) {
		c := sim.New(t, explored, sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev"}))
		c.Apply(web)
		c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
		c.Delete("pod/web", "pvc/web")
		c.Settle()
	})
	t.end()
	// Output: nothing is left behind
}
