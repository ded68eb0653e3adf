package provisioner

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/csisim/csisim/internal/world/kernel"
)

// nodeDeployment is the provisioner of one node, beside the node's plugin. It creates and deletes
// the volumes of this node. It uses only its own node, in the driver's description. C-PROV-6
type nodeDeployment struct {
	node     *corev1.Node
	csiNode  *storagev1.CSINode
	topology bool              // the driver has returned a topology
	attempts map[types.UID]int // attempts to take a claim, until a node has taken it
}

// errElsewhere ends the deletion of a volume that another node made.
var errElsewhere = errors.New("PV was not provisioned on this node")

// resync is the interval at which the informer delivers unchanged claims again. C-PROV-3
const resync = 15 * time.Minute

// meetNode requests the node's description from the driver. C-PROV-6
func (c *Provisioner) meetNode(p *kernel.Process) {
	answer, err := csi.NewNodeClient(c.conn(p)).NodeGetInfo(context.Background(), &csi.NodeGetInfoRequest{})
	if err != nil {
		c.life.Failed(p)
	}
	segments := answer.GetAccessibleTopology().GetSegments()
	called := metav1.ObjectMeta{Name: c.options.Node}
	driver := storagev1.CSINodeDriver{Name: c.driver, NodeID: answer.GetNodeId(), TopologyKeys: slices.Sorted(maps.Keys(segments))}
	called.Labels = segments
	c.local = &nodeDeployment{
		node:     &corev1.Node{ObjectMeta: called},
		csiNode:  &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: c.options.Node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{driver}}},
		topology: answer.GetAccessibleTopology() != nil,
		attempts: map[types.UID]int{},
	}
	c.Go("resync", c.resyncClaims)
}

// resyncClaims processes again the claims that no node took because of missing capacity.
func (c *Provisioner) resyncClaims(p *kernel.Process) {
	for {
		p.Idle(resync)
		for _, uid := range slices.Sorted(maps.Keys(c.known)) {
			c.claims.Add(uid)
		}
	}
}

// made reports whether this node created the volume. C-PROV-81
func (n *nodeDeployment) made(pv persistentVolume) (bool, error) {
	if !n.topology || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true, nil
	}
	selector, err := nodeaffinity.NewNodeSelector(pv.Spec.NodeAffinity.Required)
	if err != nil {
		return false, err
	}
	return selector.Match(n.node), nil
}
