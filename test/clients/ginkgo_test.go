package clients

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "A cluster in a spec")
}

var _ = ginkgo.Describe("a pod with a claim", func() {
	var c *sim.Cluster
	ginkgo.BeforeEach(func() { c = cluster(ginkgo.GinkgoT()) })

	ginkgo.It("runs", func() {
		c.Apply(web)
		c.Until(running)
		gomega.Expect(c.Nodes()).To(gomega.HaveLen(2))
	})
	ginkgo.It("is in a cluster of its own", func() {
		c.Expect(expect.Object{Ref: "pod/web", Gone: true})
	})
})
