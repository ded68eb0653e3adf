package kind

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/real/realcluster"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// world is a real cluster while a test runs on it.
type world struct {
	*realcluster.Cluster
	target     *promotion.Target
	supervisor *supervisor
	faults     []*fault.Fault          // from the start
	named      map[*fault.Fault]string // injected faults
	done       func()                  // gives the cluster to the next test
}

var _ sim.World = &world{}

// Boot waits until nodes and drivers are up, and injects the faults that are active from the start.
func (w *world) Boot() error {
	if err := w.Cluster.Boot(); err != nil {
		return err
	}
	for _, f := range w.faults {
		if err := w.Inject(f); err != nil {
			return err
		}
	}
	return nil
}

// Close removes all objects of the test, and releases the cluster to the next test.
func (w *world) Close() error {
	err := errors.Join(w.Cluster.Close(), w.target.Close(), w.supervisor.end())
	w.done()
	return err
}

// RESTConfig configures clients of any kind.
func (w *world) RESTConfig() *rest.Config { return w.target.Config() }

// Exclusively runs a function that reads the events so far.
func (w *world) Exclusively(look func()) {
	_ = w.WaitFor("a look", 0, func() bool { look(); return true }) // this runs look immediately
}

// Say records the test's next action in the trace.
func (w *world) Say(what string) { w.Trace().Add(trace.Entry{Kind: trace.Step, Message: what}) }

// Last returns the Seq of the last event.
func (w *world) Last() uint64 { return w.Trace().Last() }

// Apply creates an object or changes it, replaces the images of its containers, and waits until the
// mirror has the object.
func (w *world) Apply(o store.Object) (verb string, err error) {
	if err := w.target.Provide(promotion.ImagesOf(o)); err != nil {
		return "", err
	}
	if verb, err = w.Cluster.Apply(o); err != nil {
		return "", err
	}
	return verb, w.Applied()
}

// Delete requests an object's deletion.
func (w *world) Delete(res *store.Resource, key store.Key, how ...store.DeleteOption) error {
	if len(how) > 0 {
		return &sim.NotPromotedError{What: "a deletion with options", Why: "objects are deleted there as kubectl deletes them"}
	}
	return w.Cluster.Delete(res, key, nil)
}

// Kill ends a program like SIGKILL.
func (w *world) Kill(c sim.Component) error { return ask(c, w.Cluster.Kill) }

// Stop ends a program like SIGTERM.
func (w *world) Stop(c sim.Component) error { return ask(c, w.Cluster.Stop) }

// Start starts a program that was killed or stopped.
func (w *world) Start(c sim.Component) error { return ask(c, w.Cluster.Start) }

func ask(c sim.Component, do func(sim.Component) error) error {
	if name, is := c.(sim.Controller); is {
		if why := promotion.NeverController(string(name)); why != "" {
			return &sim.NotPromotedError{What: c.String(), Why: why}
		}
	}
	return notReal(c.String(), do(c))
}

// notReal turns an error about a feature that real clusters lack into an error that skips the test
// there.
func notReal(what string, err error) error {
	if errors.Is(err, realcluster.ErrNotReal) {
		return &sim.NotPromotedError{What: what, Why: err.Error()}
	}
	return err
}

// PowerOff cuts a node's power.
func (w *world) PowerOff(node string) error {
	return notReal("the power of "+node, w.Cluster.PowerOff(node))
}

// PowerOn boots a node again.
func (w *world) PowerOn(node string) error {
	return notReal("the power of "+node, w.Cluster.PowerOn(node))
}

// Inject activates a fault at all proxies. The proxies end it when they receive its name.
func (w *world) Inject(f *fault.Fault) error {
	if why := promotion.NeverFault(f); why != "" {
		return &sim.NotPromotedError{What: "a fault at " + f.Call, Why: why}
	}
	named := *f
	if named.Name == "" {
		named.Name = fmt.Sprintf("fault %d of the test", len(w.named)+1)
	}
	if w.named == nil {
		w.named = map[*fault.Fault]string{}
	}
	w.named[f] = named.Name
	return w.Cluster.Inject(&named)
}

// EndFault ends a fault.
func (w *world) EndFault(f *fault.Fault) error { return w.ClearFaults(w.named[f]) }
