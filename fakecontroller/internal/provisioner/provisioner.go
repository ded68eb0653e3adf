// Package provisioner is the in-process equivalent of the external-provisioner sidecar. It calls
// the driver to create volumes for claims, writes a PersistentVolume for each, and calls the driver
// to delete released volumes.
package provisioner

import (
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Name is the program's name in traces.
const Name = "csi-provisioner"

// Provisioner is a running csi-provisioner.
type Provisioner struct {
	*component.Component
	wire    *wire.Wire
	options Options
	life    *sidecar.Life

	driver   string // as the plugin calls itself
	plugin   string // the in-tree plugin that the driver replaces; empty for none
	promises sidecar.Driver
	identity string // identifies this start of the program; becomes a volume attribute. C-PROV-2
	source   string // source of the events of claims and volumes. C-PROV-5

	claims  *workqueue.Queue[types.UID]
	volumes *workqueue.Queue[string]
	unsaved *workqueue.Queue[string]
	// Claims that are being deleted and may be cloned: C-PROV-43.
	sources *workqueue.Queue[store.Key]

	known      map[types.UID]claim // claims to provision, from the last event of the informer
	inProgress map[types.UID]claim // C-PROV-13
	infeasible slowSet
	topologies map[types.UID]*chosenTopology
	segments   map[string][]term // of all nodes, by topology keys; valid until a node changes
	toSave     map[string]unsavedVolume
	capacities *capacities     // nil if the driver does not report its capacity
	local      *nodeDeployment // nil without node deployment
}

// Start runs a csi-provisioner for one driver. It has no state from an earlier run. C-PROV-13
func Start(w *component.World, wire *wire.Wire, o Options) *sidecar.Program {
	return sidecar.Run(w, o.Flags, func(life *sidecar.Life) *component.Component {
		c := newProvisioner(w, wire, o)
		c.life = life
		c.Go("main", c.run)
		return c.Component
	})
}

func newProvisioner(w *component.World, wire *wire.Wire, o Options) *Provisioner {
	c := &Provisioner{
		Component:  w.Start(o.Called(Name), o.Node),
		wire:       wire,
		options:    o.withDefaults(),
		driver:     o.Driver,
		known:      map[types.UID]claim{},
		inProgress: map[types.UID]claim{},
		infeasible: slowSet{},
		topologies: map[types.UID]*chosenTopology{},
		segments:   map[string][]term{},
		toSave:     map[string]unsavedVolume{},
	}
	// C-PROV-3
	retrying := workqueue.Options{Workers: Workers, FirstDelay: c.options.RetryIntervalStart, MaxDelay: c.options.RetryIntervalMax}
	c.claims = workqueue.New("claims", retrying, c.Go, c.syncClaim)
	c.volumes = workqueue.New("volumes", retrying, c.Go, c.syncVolume)
	saving := workqueue.Default
	saving.Workers = 4 // C-PROV-4
	c.unsaved = workqueue.New("unsaved volumes", saving, c.Go, c.save)
	cloned := retrying
	cloned.Workers = 1
	c.sources = workqueue.New("cloned claims", cloned, c.Go, c.releaseClaim)
	return c
}

// run requests the driver's properties, then follows claims, volumes and nodes.
func (c *Provisioner) run(p *kernel.Process) {
	c.promises = c.life.Connect(p, c.wire, c.site(), sidecar.Patience{Probe: c.options.Timeout, Answer: c.options.Timeout})
	c.driver = c.promises.Name
	c.plugin, _ = migration.PluginOf(c.driver)
	c.nameItself()
	if c.options.Node != "" {
		c.meetNode(p)
	}
	c.life.Lead(p, c.options.Lock(c.driver))
	c.awaitGrants(p)
	claims := component.Watch[claim](c.Component, p)
	volumes := component.Watch[*corev1.PersistentVolume](c.Component, p)
	if c.promises.Serves("VOLUME_ACCESSIBILITY_CONSTRAINTS") && c.local == nil {
		c.Go("nodes", c.followNodes)
	}
	if c.promises.Can("GET_CAPACITY") {
		c.startCapacities()
	}
	if c.promises.Can("CREATE_DELETE_SNAPSHOT") {
		c.Go("snapshot sweep", c.sweepSnapshots)
	}
	var take func(*kernel.Process)
	take = func(p *kernel.Process) {
		for e, ok := claims.Next(); ok; e, ok = claims.Next() {
			c.claimChanged(e)
		}
		for e, ok := volumes.Next(); ok; e, ok = volumes.Next() {
			if e.Type != store.Deleted && c.concerns(e.Object) {
				c.volumes.Add(e.Object.Name)
			}
		}
		p.React("claims and volumes to work on", take)
	}
	take(p)
}

// nameItself derives the identity from the start time. The real program draws random values.
// C-PROV-2, C-PROV-5
func (c *Provisioner) nameItself() {
	now := c.Kernel.Now().UnixMilli()
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %d", c.options.Called(c.driver)+c.options.Node, now, c.Store.Revision())
	n := h.Sum64()
	c.identity = fmt.Sprintf("%d-%d-%s", now, n%10000, c.driver)
	if c.options.Node != "" {
		c.identity += "-" + c.options.Node
	}
	c.source = fmt.Sprintf("%s_csisim_%08x-%04x-4%03x-8%03x-%012x", c.driver, uint32(n>>32), uint16(n>>16), n>>4&0xfff, n&0xfff, n&0xffffffffffff)
}

// claimChanged queues a claim that may need a volume. A deleted claim is not queued: either it is
// in progress and will be retried, or nothing is left to do. C-PROV-13, C-PROV-14
func (c *Provisioner) claimChanged(e store.Event[claim]) {
	pvc := e.Object
	if e.Type != store.Deleted && pvc.DeletionTimestamp != nil && c.promises.Can("CLONE_VOLUME") {
		c.sources.Add(store.KeyOf(pvc))
	}
	if e.Type == store.Deleted {
		delete(c.known, pvc.UID)
		if c.local != nil {
			delete(c.local.attempts, pvc.UID)
		}
		if c.inProgress[pvc.UID] == nil {
			delete(c.topologies, pvc.UID)
		}
		return
	}
	if !c.asked(pvc) {
		delete(c.known, pvc.UID)
		delete(c.inProgress, pvc.UID)
		return
	}
	c.known[pvc.UID] = pvc
	c.claims.Add(pvc.UID)
}

func (c *Provisioner) event(about store.Object, eventType, reason, format string, args ...any) {
	c.EventFrom(c.source, about, eventType, reason, format, args...)
}
