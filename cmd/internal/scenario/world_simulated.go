package scenario

import (
	"errors"
	"time"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// simulated is the simulation as the world of a scenario.
type simulated struct{ *sim.Simulation }

var _ World = simulated{}

func (s simulated) Trace() *trace.Recorder { return s.World.Trace }

func (s simulated) Elapsed() time.Duration { return s.World.Kernel.Elapsed() }

// Forced returns nothing, since all volumes of a simulation end with it.
func (s simulated) Forced() []string { return nil }

// Applied never has to wait.
func (s simulated) Applied() error { return nil }

func (s simulated) Modify(res *store.Resource, key store.Key, subresource string, change func(store.Object) error) error {
	if err := s.Powered(); err != nil {
		return err
	}
	return modify(s.World.Store, res, key, subresource, change)
}

// modify changes an object of a store, or its status.
func modify(s *store.Store, res *store.Resource, key store.Key, subresource string, change func(store.Object) error) error {
	write := s.ModifyObject
	if subresource == statusPart {
		write = s.ModifyStatusObject
	}
	var wrong error
	if _, err := write(res, key, func(obj store.Object) { wrong = change(obj) }); err != nil {
		return err
	}
	return wrong
}

func (s simulated) Delete(res *store.Resource, key store.Key, grace *int64) error {
	if grace != nil {
		return s.Simulation.Delete(res, key, store.GracePeriod(*grace))
	}
	return s.Simulation.Delete(res, key)
}

func (s simulated) ClearFaults(name string) error {
	s.Wire.Faults.Clear(name)
	return nil
}

// errNotSimulated is the error of steps that are impossible on a real cluster.
var errNotSimulated = errors.New("only a simulated cluster can do this")

// simulation returns the cluster for a step that is possible only in a simulation.
func (r *runner) simulation() (*sim.Simulation, error) {
	if s, ok := r.cluster.(simulated); ok {
		return s.Simulation, nil
	}
	return nil, errNotSimulated
}
