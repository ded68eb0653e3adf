package scheduler

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/ordered"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// defaultMaxPods bounds the pods of a node without its own limit.
const defaultMaxPods = 110

// node is a node with the pods assigned to it.
type node struct {
	name   string
	object *corev1.Node     // nil while the cache has only the node's pods or CSINode
	limits map[string]int64 // of volumes, by driver. C-SCHED-21
	// migrated are the in-tree plugins of the node's kubelet that drivers replace. C-SCHED-3
	migrated map[string]bool
	// installed are the drivers that its CSINode lists. C-SCHED-26
	installed map[string]bool
	pods      map[types.UID]*placement
	used      amounts // by the pods
	// volumes holds the volumes of its pods, by driver; nil if they must be computed again.
	// C-SCHED-23
	volumes map[string]map[string]bool
}

// placement is a pod that is on a node or assumed to be there.
type placement struct {
	key    store.Key
	uid    types.UID
	pod    *corev1.Pod // its last version
	apart  []neighbourTerm
	node   *node
	claims []store.Key // of all volumes
	named  []store.Key // claims except those of generic ephemeral volumes. C-SCHED-50
	disks  []*corev1.Volume
	asked  amounts // of resources
}

// cluster is the scheduler's view of nodes and assigned pods. Each change updates it.
type cluster struct {
	nodes      map[string]*node
	order      []*node // nodes that exist, those with the fewest pods first, then by name
	listed     []*node // the same nodes, in the order of their creation
	byHostname map[string][]*node
	placed     map[types.UID]*placement
	users      map[store.Key]ordered.Map[types.UID, *placement] // by claim
	// The number of pods with required anti-affinity.
	apart int
	// changes counts changes of the nodes of pods, and of the labels of pods and nodes.
	changes int
}

func newCluster() *cluster {
	return &cluster{
		nodes: map[string]*node{}, byHostname: map[string][]*node{},
		placed: map[types.UID]*placement{}, users: map[store.Key]ordered.Map[types.UID, *placement]{},
	}
}

func (c *cluster) node(name string) *node {
	n, ok := c.nodes[name]
	if !ok {
		n = &node{name: name, pods: map[types.UID]*placement{}}
		c.nodes[name] = n
	}
	return n
}

func compareNodes(a, b *node) int {
	return cmp.Or(cmp.Compare(len(a.pods), len(b.pods)), cmp.Compare(a.name, b.name))
}

// moving removes a node from the order while change alters its position.
func (c *cluster) moving(n *node, change func()) {
	if n.object == nil {
		change()
		return
	}
	if i, ok := slices.BinarySearchFunc(c.order, n, compareNodes); ok {
		c.order = slices.Delete(c.order, i, i+1)
	}
	change()
	if n.object != nil {
		i, _ := slices.BinarySearchFunc(c.order, n, compareNodes)
		c.order = slices.Insert(c.order, i, n)
	}
}

func (c *cluster) setNode(object *corev1.Node) {
	c.changes++
	n := c.node(object.Name)
	before := hostname(n.object)
	if n.object == nil {
		n.object = object
		i, _ := slices.BinarySearchFunc(c.order, n, compareNodes)
		c.order = slices.Insert(c.order, i, n)
		c.listed = append(c.listed, n)
	} else {
		n.object = object
	}
	if now := hostname(object); now != before {
		c.unlistHost(n, before)
		c.byHostname[now] = append(c.byHostname[now], n)
	}
}

func (c *cluster) removeNode(name string) {
	c.changes++
	n := c.node(name)
	c.unlistHost(n, hostname(n.object))
	c.moving(n, func() { n.object = nil })
	c.listed = slices.DeleteFunc(c.listed, func(o *node) bool { return o == n })
}

func (c *cluster) unlistHost(n *node, host string) {
	rest := slices.DeleteFunc(c.byHostname[host], func(o *node) bool { return o == n })
	if len(rest) == 0 {
		delete(c.byHostname, host)
	} else {
		c.byHostname[host] = rest
	}
}

func hostname(object *corev1.Node) string {
	if object == nil {
		return ""
	}
	return object.Labels[corev1.LabelHostname]
}

func (c *cluster) isPlaced(pod *corev1.Pod) bool {
	_, ok := c.placed[pod.UID]
	return ok
}

// place assigns a pod to a node. A pod that is on this node already stays there.
func (c *cluster) place(pod *corev1.Pod, name string) {
	c.changes++
	if p, ok := c.placed[pod.UID]; ok {
		if p.node.name == name {
			p.pod = pod
			return
		}
		c.remove(pod.UID)
	}
	n := c.node(name)
	p := &placement{key: store.KeyOf(pod), uid: pod.UID, pod: pod, apart: apartTerms(pod), node: n, disks: disksOf(pod), asked: requestsOf(pod)}
	for i := range pod.Spec.Volumes {
		key, ephemeral, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i])
		if !ok {
			continue
		}
		p.claims = append(p.claims, key)
		if !ephemeral {
			p.named = append(p.named, key)
		}
	}
	if len(p.named) == len(p.claims) {
		p.named = p.claims
	}
	c.placed[pod.UID] = p
	if len(p.apart) > 0 {
		c.apart++
	}
	c.moving(n, func() { n.pods[pod.UID] = p })
	n.take(p.asked)
	c.changeUse(p, func(users *ordered.Map[types.UID, *placement]) { users.Set(p.uid, p) })
}

// remove removes a pod from its node and returns its placement; nil if it had none.
func (c *cluster) remove(uid types.UID) *placement {
	p, ok := c.placed[uid]
	if !ok {
		return nil
	}
	delete(c.placed, uid)
	c.changes++
	if len(p.apart) > 0 {
		c.apart--
	}
	c.moving(p.node, func() { delete(p.node.pods, uid) })
	p.node.give(p.asked)
	c.changeUse(p, func(users *ordered.Map[types.UID, *placement]) { users.Delete(uid) })
	return p
}

func (c *cluster) changeUse(p *placement, change func(users *ordered.Map[types.UID, *placement])) {
	if p.hasVolumes() {
		p.node.volumes = nil
	}
	for _, claim := range p.claims {
		users := c.users[claim]
		change(&users)
		if c.users[claim] = users; len(users) == 0 {
			delete(c.users, claim)
		}
	}
}

// hasVolumes reports whether a node may have to attach volumes for the pod.
func (p *placement) hasVolumes() bool { return len(p.claims)+len(p.disks) > 0 }

// claimChanged invalidates the volumes of the nodes that use the claim.
func (c *cluster) claimChanged(claim store.Key) {
	for _, p := range c.users[claim] {
		p.Value.node.volumes = nil
	}
}

// inUse reports whether a pod on some node names the claim. C-SCHED-50
func (c *cluster) inUse(claim store.Key) bool {
	return slices.ContainsFunc(c.users[claim], func(p ordered.Entry[types.UID, *placement]) bool { return slices.Contains(p.Value.named, claim) })
}
