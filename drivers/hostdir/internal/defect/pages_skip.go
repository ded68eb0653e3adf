//go:build linux

package defect

import (
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var pagesSkip = &Defect{
	Name: "pages-skip",
	Does: "each page of a list but the first leaves its first entry out",
	Call: both(
		on(func(_ *service.Driver, req *csi.ListVolumesRequest, next next) (any, error) {
			req = proto.CloneOf(req)
			req.StartingToken = later(req.GetStartingToken())
			return next(req)
		}),
		on(func(_ *service.Driver, req *csi.ListSnapshotsRequest, next next) (any, error) {
			req = proto.CloneOf(req)
			req.StartingToken = later(req.GetStartingToken())
			return next(req)
		})),
}

// later returns the token of the next entry. A token is the number of preceding entries.
func later(token string) string {
	start, err := strconv.Atoi(token)
	if err != nil {
		return token
	}
	return strconv.Itoa(start + 1)
}
