package fakecontroller_test

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
)

// A served cluster has the same controllers as other clusters and, in addition, the publisher of
// its certificate. Its address and the accounts of the first namespaces are written once.
func TestServedClustersHaveNoOtherControllers(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	fakecontroller.StartForClients(c.World, netip.MustParseAddrPort("127.0.0.1:6443"), []byte("certificate"))
	programs := map[string]bool{}
	c.Run(time.Second)
	for _, line := range c.Kernel.Waiting() {
		names, _, _ := strings.Cut(line, ": waits for ")
		for name := range strings.SplitSeq(names, ", ") {
			program, _, _ := strings.Cut(name, "/")
			programs[program] = true
		}
	}
	assert.Equal(t, []string{"root-ca-certificate-publisher-controller"}, slices.Sorted(maps.Keys(programs)))
	var names []string
	for _, controller := range fakecontroller.ControllerManager {
		names = append(names, controller.Name)
	}
	assert.Subset(t, names, []string{"namespace", "serviceaccount", "endpoints", "endpointslice", "clusterrole-aggregation", "ttl-after-finished", "ttl"})
}
