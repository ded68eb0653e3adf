package realcluster

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/listing"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/sim"
)

const (
	// looks bounds the searches of nodes for leftovers. lookAgain is the pause between them,
	// because a kubelet removes the directory of a pod only in its next round.
	looks     = 5
	lookAgain = 2 * time.Second
)

// Ledger returns the files on the nodes and the objects in the API that nothing accounts for, even
// after a while.
func (c *Cluster) Ledger() (found sim.Ledger) {
	for n := range looks {
		if n > 0 && c.Advance(lookAgain) != nil {
			return found
		}
		if found = c.look(); len(found.Leaks) == 0 {
			return found
		}
	}
	return found
}

func (c *Cluster) look() sim.Ledger {
	c.pump()
	seen := ledger.Cluster{
		Store: c.world.Store, Trace: c.world.Trace, Watch: c.watch, StagesNot: c.stagesNot,
		Renamed: func(text string) string { return text },
	}
	var unseen []string
	for _, node := range c.options.Nodes {
		disk, err := c.disk(node)
		if err != nil {
			unseen = append(unseen, fmt.Sprintf("mounts and directories of %s: %v", node, err))
			continue
		}
		seen.Nodes = append(seen.Nodes, &ledger.Node{Name: node, Machine: disk, Kubelet: !c.silent[node]})
	}
	found := ledger.Look(seen)
	found.Unseen = append(append(append(found.Unseen, unseen...), c.data.unseenVolumes()...), "the volumes in the drivers' backends")
	return found
}

// stagesNot reports whether a driver's plugins have reported that they do not stage.
func (c *Cluster) stagesNot(driver string) bool {
	for _, e := range slices.Backward(c.world.Trace.Events()) {
		answer, ok := e.Response.(*csi.NodeGetCapabilitiesResponse)
		if !ok || e.Driver != driver {
			continue
		}
		return !slices.ContainsFunc(answer.GetCapabilities(), func(can *csi.NodeServiceCapability) bool {
			return can.GetRpc().GetType() == csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME
		})
	}
	return false
}

// canLook returns an error if commands do not already run on a node. No pod is created there only
// to search for leftovers.
func (c *Cluster) canLook(node string) error {
	switch {
	case !c.reachesDirectly() && !c.options.Reach:
		return errors.New("no step reaches the node")
	case c.dark[node]:
		return errors.New("the node has no power")
	}
	return nil
}

// lookAtFirst records the files on the nodes before the first step, because they are not leftovers.
func (c *Cluster) lookAtFirst() error {
	for _, node := range c.options.Nodes {
		if c.canLook(node) != nil {
			continue
		}
		entries, err := c.entries(node)
		if err != nil {
			return err
		}
		c.atFirst[node] = map[string]bool{}
		for _, e := range entries {
			c.atFirst[node][e.Name] = true
		}
	}
	return nil
}

// disk returns the current kubelet directory of a node, restricted to the run's files.
func (c *Cluster) disk(node string) (machine.Machine, error) {
	if err := c.canLook(node); err != nil {
		return nil, err
	}
	entries, err := c.entries(node)
	if err != nil {
		return nil, err
	}
	disk := machine.NewMemory(node)
	for _, e := range entries {
		if !c.isOwn(node, e) {
			continue
		}
		if err := put(disk, e); err != nil {
			return nil, fmt.Errorf("read the listing: %w", err)
		}
	}
	return disk, nil
}

// isOwn reports whether a file on a node belongs to the run's pods, volumes and drivers, and is
// newer than the run.
func (c *Cluster) isOwn(node string, e listing.Entry) bool {
	switch place := ledger.Dir(machine.KubeletDir).Locate(path.Join(machine.KubeletDir, e.Name)); {
	case !place.Owned():
		return e.Mode.IsDir()
	case c.atFirst[node][e.Name]:
		return false
	case place.Pod != "": // the rest of its directory belongs to the kubelet and the runtime
		return place.Volume != "" && c.known["pod "+place.Pod]
	case place.Handle != "":
		return slices.Contains(c.Drivers(), place.Driver)
	default:
		return c.known["volume "+place.Volume]
	}
}

// put makes an entry of a listing on an empty disk.
func put(disk *machine.Memory, e listing.Entry) error {
	const sources = "/mounted"
	at := path.Join(machine.KubeletDir, e.Name)
	lay := func(at string) error {
		if e.Mode.IsDir() {
			return disk.MkdirAll(at, e.Mode.Perm())
		}
		if err := disk.MkdirAll(path.Dir(at), 0o755); err != nil {
			return err
		}
		return disk.WriteFile(at, []byte(e.Content), 0o644)
	}
	if err := lay(at); err != nil || e.Mount == nil {
		return err
	}
	source := path.Join(sources, strings.ReplaceAll(e.Name, "/", "-"))
	if err := lay(source); err != nil {
		return err
	}
	return disk.BindMount(source, at, false)
}
