//go:build linux

package defect

import (
	"maps"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var inlineRefusalLeavesMount = &Defect{
	Name: "inline-refusal-leaves-mount",
	Does: "an inline volume is refused for its attributes after it was mounted, and the mount stays",
	Call: on(func(_ *service.Driver, req *csi.NodePublishVolumeRequest, next next) (any, error) {
		answer, refused := next(req)
		if status.Code(refused) != codes.InvalidArgument {
			return answer, refused
		}
		accepted := proto.CloneOf(req)
		maps.DeleteFunc(accepted.VolumeContext, func(key, _ string) bool { return !strings.HasPrefix(key, service.PodInfo) })
		if _, err := next(accepted); err != nil {
			return nil, err
		}
		return nil, refused
	}),
}
