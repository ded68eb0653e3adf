package nodeinfo

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
)

// pollAPI is the interval at which a starting kubelet checks whether the API server answers.
// K-NODE-2
const pollAPI = time.Second

// initialize makes sure that the node has its record. If that fails, the kubelet exits. K-NODE-2,
// L-START-2
func (m *Manager) initialize(p *kernel.Process) {
	m.awaitAPI(p)
	patience := initializationBackoff
	if !m.kubelet.Version.Has(version.CSINodeAtStartup) {
		patience = oldInitializationBackoff
	}
	failures := patience.retry(p, func() error {
		err := m.update(p, m.record.kind()+" annotation", func() error { return m.record.initialize(p) })
		if err != nil {
			m.setNotReady(fmt.Sprintf("failed to initialize %s: %v", m.record.kind(), err))
		}
		return err
	})
	if failures != nil {
		m.exit(failures[len(failures)-1])
		return
	}
	m.setNotReady("")
}

func (m *Manager) awaitAPI(p *kernel.Process) {
	for {
		err := m.record.probe(p)
		if err == nil || apierrors.IsNotFound(err) {
			return
		}
		p.Sleep(pollAPI)
	}
}

// exit ends the whole kubelet from outside, because no process can do so from within.
func (m *Manager) exit(why error) {
	m.kubelet.Trace.Add(trace.Entry{
		Kind: trace.FaultFired, Actor: m.kubelet.Name, Node: m.kubelet.Node,
		Message: "the kubelet exits: failed to initialize " + m.record.kind() + " after retrying: " + why.Error(),
	})
	m.kubelet.Kernel.Spawn(nil, "exit of the kubelet of "+m.kubelet.Node, func(*kernel.Process) { m.kubelet.Crash() })
}
