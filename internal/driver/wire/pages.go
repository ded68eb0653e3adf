package wire

import (
	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/kernel"
)

// csisimItself is the caller of csisim's own requests, which no component of the cluster makes.
const csisimItself = "csisim"

// list identifies a list that a caller reads page after page. csisim itself may read several at
// once.
type list struct {
	driver, caller, method string
	by                     *kernel.Process
}

// reading is the state of a list that is being read.
type reading struct {
	pages contract.Pages
	noted bool
}

// turn checks a page. If a list never ends, its caller requests pages until its deadline, and then
// has a timeout.
func (c *call) turn() error {
	if !isPage(c.answer) {
		return nil
	}
	key := list{c.site.Driver, c.site.Caller, c.method, c.process}
	r := c.wire.lists[key]
	if r == nil {
		r = &reading{}
		c.wire.lists[key] = r
	}
	if asked, ok := c.request.(interface{ GetStartingToken() string }); ok && asked.GetStartingToken() == "" {
		r.pages = contract.Pages{}
	}
	why := r.pages.Turn(c.answer)
	if why == "" {
		return nil
	}
	if !r.noted {
		r.noted = true
		c.wire.note(c, []verdict.Verdict{contract.EndlessList(c.method, c.answer, why)})
	}
	if c.site.Caller != csisimItself {
		c.process.WaitUntil("the last page of "+c.method, c.site.Deadline, func() bool { return false })
	}
	return errDeadline
}

func isPage(answer any) bool {
	switch answer.(type) {
	case *csi.ListVolumesResponse, *csi.ListSnapshotsResponse, *csi.ControllerListVolumeHealthResponse:
		return true
	}
	return false
}
