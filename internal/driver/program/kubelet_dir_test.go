package program

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/machine"
)

// If a container mounts a usual place of the kubelet's directory, it sees only its own mounts
// there. This also holds if the directory is elsewhere, is mounted in parts, or is the target of a
// symlink, which only the node has.
func TestAContainerSeesTheMountedPartsOfTheKubeletsDirectory(t *testing.T) {
	const usual, mnt, above = machine.KubeletDir, "/mnt/kubelet", "/var/lib"
	both := func(path string) Volume { return Volume{Path: path, HostPath: path, Propagation: Bidirectional} }
	none, elsewhere := machine.Layout{}, machine.Layout{Dir: mnt}
	to, from := machine.Layout{SymlinkTo: mnt}, machine.Layout{Dir: mnt, SymlinkFrom: usual}
	for _, c := range []struct {
		name   string
		layout machine.Layout
		mounts []Volume
		part   bool
	}{
		{"nothing", none, nil, false},
		{"its own socket only", none, []Volume{{Path: "/csi", HostPath: usual + "/plugins/d"}}, false},
		{"all of it", none, []Volume{both(usual)}, false},
		{"the directory above", none, []Volume{both(above)}, false},
		{"all of it without propagation", none, []Volume{{Path: usual, HostPath: usual}}, true},
		{"the pods", none, []Volume{both(usual + "/pods")}, true},
		{"nothing", elsewhere, nil, false},
		{"all of it", elsewhere, []Volume{both(mnt)}, false},
		{"the usual place", elsewhere, []Volume{both(usual)}, true},
		{"the directory above the usual place", elsewhere, []Volume{both(above)}, true},
		{"nothing", to, nil, false},
		{"the symlink", to, []Volume{both(usual)}, true},
		{"the directory above the symlink", to, []Volume{both(above)}, true},
		{"the directory behind the symlink", to, []Volume{both(mnt)}, true},
		{"the symlink", from, []Volume{both(usual)}, true},
		{"the directory behind the symlink", from, []Volume{both(mnt)}, true},
	} {
		p := &Program{machine: machine.NewMemoryWith("node-a", c.layout), spec: Spec{Volumes: c.mounts}}
		assert.Equal(t, c.part, p.seesPartOfKubeletDir(), "%s with %+v", c.name, c.layout)
	}
}
