// Package attachdetach is the attach/detach controller of the kube-controller-manager. It creates
// VolumeAttachments for the volumes of scheduled pods, and deletes them when no pod needs them. It
// shows the attached volumes to kubelets in node.status.volumesAttached.
//
// Informers feed the desired state of world, and the results of operations feed the actual state. A
// reconciler polls every 100 ms and starts the operations that lead from the actual to the desired
// state. It processes only changes since its last pass.
package attachdetach

import (
	"time"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Timers of the real controller. C-ADC-1, C-ADC-2
const (
	pollPeriod        = 100 * time.Millisecond
	maxWaitForUnmount = 6 * time.Minute
	populatorPeriod   = time.Minute
	podListPeriod     = 3 * time.Minute
	defaultSyncPeriod = time.Minute
)

// Options are the controller's flags. The zero value means their defaults. C-ADC-2
type Options struct {
	// ReconcileSyncPeriod is the interval at which attachments are compared to their
	// VolumeAttachments. Default: 60 s.
	ReconcileSyncPeriod time.Duration
	// DisableReconcileSync disables this comparison.
	DisableReconcileSync bool
	// DisableForceDetachOnTimeout makes the controller never detach volumes that a node may still
	// have mounted, unless the node is tainted as out of service.
	DisableForceDetachOnTimeout bool
}

// Controller is a running attach/detach controller.
type Controller struct {
	*component.Component
	opts    Options
	started time.Duration

	desired desiredState
	actual  actualState
	ops     *operation.Pending
	claims  *workqueue.Queue[store.Key]

	dirty      map[pair]bool // pairs for the next pass
	agenda     agenda        // pairs for later passes, with their times
	waiting    map[string]*attachmentNews
	lastTurn   map[string]string // the node that was tried last, by volume that several nodes need
	unverified map[pair]bool     // attached pairs with a VolumeAttachment that is not attached
	backlog    backlog

	reconciler, syncer, populator *kernel.Process
}

// Start starts the controller. It derives its state from the existing nodes and VolumeAttachments.
func Start(w *component.World, opts Options) *Controller {
	if opts.ReconcileSyncPeriod == 0 {
		opts.ReconcileSyncPeriod = defaultSyncPeriod
	}
	c := &Controller{
		Component:  w.Start("attachdetach-controller", ""),
		opts:       opts,
		started:    w.Kernel.Elapsed(),
		desired:    newDesiredState(),
		actual:     newActualState(),
		dirty:      map[pair]bool{},
		agenda:     newAgenda(),
		waiting:    map[string]*attachmentNews{},
		lastTurn:   map[string]string{},
		unverified: map[pair]bool{},
		backlog:    newBacklog(),
	}
	c.ops = operation.New(w.Kernel, c.Go, c.operationEnded)
	c.claims = workqueue.New("claims", workqueue.Default, c.Go, c.syncClaim)
	c.Metrics.Collect(c.collect)
	c.Go("informers", c.run)
	return c
}

// run recovers, starts the loops and then handles the events of the informer. C-ADC-3
func (c *Controller) run(p *kernel.Process) {
	in := c.openInformers(p)
	// Node events have been handled before the state is recovered. Volumes that recovery regards as
	// mounted stay mounted until the next node update. C-ADC-40
	c.takeNodes(in)
	c.recover()
	c.reconciler = c.Go("reconciler", c.reconcile)
	c.populator = c.Go("populator", c.populate)
	if !c.opts.DisableReconcileSync && c.opts.ReconcileSyncPeriod >= time.Second { // C-ADC-50
		c.syncer = c.Go("sync", c.verify)
	}
	var take func(*kernel.Process)
	take = func(p *kernel.Process) {
		c.takeNodes(in)
		c.takeDrivers(in)
		c.takeClaims(in)
		c.takePods(in)
		c.takeAttachments(in)
		p.React("news of pods, claims, nodes, drivers and attachments", take)
	}
	take(p)
}

// mark makes the next pass look at a pair.
func (c *Controller) mark(at pair) {
	c.dirty[at] = true
	if c.reconciler != nil {
		c.reconciler.Wake()
	}
}

// markNode marks all volumes on a node for the next pass.
func (c *Controller) markNode(node string) {
	// Marks may be made in any order: a pass sorts them.
	for volume := range c.actual.byNode[node] {
		c.mark(pair{volume, node})
	}
}

// markRivals marks all nodes that need a volume with a single-node access mode, for the next pass.
func (c *Controller) markRivals(volume string) {
	for _, node := range c.desired.byVolume[volume] {
		if c.desired.get(pair{volume, node}).spec.multiAttachAllowed() {
			return
		}
		c.mark(pair{volume, node})
	}
}

// operationEnded makes the next pass process the effect of an operation.
func (c *Controller) operationEnded(key operation.Key) {
	if key.Node != "" {
		c.mark(pair{key.Volume, key.Node})
	} else if v := c.actual.volumes[key.Volume]; v != nil {
		for _, on := range v.nodes {
			c.mark(pair{key.Volume, on.Key})
		}
	}
	c.markRivals(key.Volume)
}
