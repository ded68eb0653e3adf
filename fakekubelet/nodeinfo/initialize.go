package nodeinfo

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/trace"
)

// pollAPI is how often a starting kubelet asks whether the API server answers. K-NODE-2
const pollAPI = time.Second

// initialize makes sure that the node has its CSINode; a kubelet that cannot, exits. K-NODE-2
func (m *Manager) initialize(p *kernel.Process) {
	m.awaitAPI(p)
	failures := initializationBackoff.retry(p, func() error {
		err := m.update(p, "CSINode annotation", func() error { return m.initializeOnce(p) })
		if err != nil {
			m.setNotReady(fmt.Sprintf("failed to initialize CSINode: %v", err))
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
		_, err := component.Live[*storagev1.CSINode](p, m.kubelet, m.key())
		if err == nil || apierrors.IsNotFound(err) {
			return
		}
		p.Sleep(pollAPI)
	}
}

// initializeOnce is one try. K-NODE-3
func (m *Manager) initializeOnce(p *kernel.Process) error {
	node, err := component.Live[*corev1.Node](p, m.kubelet, m.key())
	if err != nil {
		return err
	}
	m.nodeUID = node.UID
	csiNode, err := component.Live[*storagev1.CSINode](p, m.kubelet, m.key())
	if apierrors.IsNotFound(err) {
		_, err = m.create(p)
		return err
	}
	if err != nil {
		return err
	}
	if err := m.checkOwner(p, csiNode); err != nil {
		return err
	}
	changed := csiNode.DeepCopy()
	if !setMigratedPlugins(changed) {
		return nil
	}
	_, err = component.Update(p, m.kubelet, changed)
	return err
}

// exit ends the whole kubelet, which no process can do from within.
func (m *Manager) exit(why error) {
	m.kubelet.Trace.Add(&trace.Event{
		Kind: trace.FaultFired, Actor: m.kubelet.Name, Node: m.kubelet.Node,
		Message: "the kubelet exits: failed to initialize CSINode after retrying: " + why.Error(),
	})
	m.kubelet.Kernel.Spawn(nil, "exit of the kubelet of "+m.kubelet.Node, func(*kernel.Process) { m.kubelet.Crash() })
}
