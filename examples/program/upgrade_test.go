package main

import (
	"cmp"
	"os"
	"testing"

	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
	"github.com/csisim/csisim/sim/namespaces"
)

// lastRelease is the path of the last release's program, from DISK_LAST_RELEASE. CI can extract it
// from a container image. If the variable is not set, the tests only restart the same program.
func lastRelease() string { return cmp.Or(os.Getenv("DISK_LAST_RELEASE"), plugin) }

func started(program string) []string {
	return []string{program, "--endpoint={{.Endpoint}}", "--node-id={{.NodeID}}", "--root={{.StateDir}}"}
}

// Given a pod with a volume of the last release, when the driver is upgraded, then the pod ends and
// its volume is deleted. After a rollback, the pod starts again.
func TestAVolumeOutlivesAnUpgradeAndARollback(t *testing.T) {
	if !namespaces.Entered() {
		t.Skip("this machine permits no namespaces, and the driver mounts")
	}
	c := sim.New(t, sim.WithVersions(map[string]sim.ProgramVersion{"head": {Command: started(plugin)}}, started(lastRelease())...))
	c.Apply("../inprocess/testdata/web.yaml")
	c.Until(running)
	c.Upgrade("head")
	c.Until(running)
	c.Delete("pod/web")
	c.Until(expect.Object{Ref: "pod/web", Gone: true})
	c.Apply("../inprocess/testdata/web.yaml")
	c.Until(running)
	c.Upgrade(sim.FirstVersion)
	c.Delete("pod/web", "pvc/data")
	c.Settle()
}
