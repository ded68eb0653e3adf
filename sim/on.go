package sim

import (
	"errors"
	"flag"
	"fmt"
)

var on = flag.String("csisim.on", "", "run tests on a real `CLUSTER`: kind, kind:NAME, or PATH[@CONTEXT] of a kubeconfig; they import "+kindPackage)

// kindPackage takes tests to real clusters.
const kindPackage = "github.com/csisim/csisim/sim/kind"

// promote opens a real cluster; it is nil if no imported package calls Promote.
var promote func(on, test string, o Options) (World, error)

// Promote registers the function that opens a real cluster. Packages that run tests on real
// clusters call it. open opens the cluster of the flag -csisim.on for a test. A *NotPromotedError
// skips the test, any other error fails it.
func Promote(open func(on, test string, o Options) (World, error)) { promote = open }

// NotPromotedError is the reason why a test cannot run on a real cluster.
type NotPromotedError struct {
	// What is the unsupported part of the test, such as `driver "x"`, and Why the reason.
	What, Why string
}

func (e *NotPromotedError) Error() string {
	return fmt.Sprintf("%s has no place on a real cluster: %s", e.What, e.Why)
}

// isPromoted reports whether tests run on a real cluster.
func isPromoted() bool { return *on != "" }

// open opens the cluster of a test: a real cluster if -csisim.on names one, otherwise a simulation.
func (c *Cluster) open(o Options) error {
	if !isPromoted() {
		simulation, err := Start(o)
		if err != nil {
			return err
		}
		c.simulation, c.world = simulation, simulation
		return nil
	}
	if promote == nil {
		return &ConfigError{Subject: "-csisim.on " + *on, Problem: fmt.Sprintf("nothing takes these tests to a real cluster: import _ %q in one of their files", kindPackage)}
	}
	o.Nodes = o.nodes()
	world, err := promote(*on, c.t.Name(), o)
	if err != nil {
		return err
	}
	c.world = world
	return nil
}

// onlySimulated skips the test if it runs on a real cluster.
func (c *Cluster) onlySimulated(what, why string) {
	c.t.Helper()
	if c.simulation == nil {
		c.evidence = nil // an abandoned run is not checked
		skip(c.t, &NotPromotedError{what, why})
	}
}

// skip skips a test that cannot run on a real cluster.
func skip(t T, why *NotPromotedError) {
	t.Helper()
	if s, can := t.(interface{ Skipf(string, ...any) }); can {
		s.Skipf("%v", why)
	}
	t.Errorf("%v", why) // a T with Skipf has ended the test
	t.FailNow()
}

// skipIf skips the test if the error is a *NotPromotedError.
func skipIf(t T, err error) {
	t.Helper()
	var why *NotPromotedError
	if errors.As(err, &why) {
		skip(t, why)
	}
}
