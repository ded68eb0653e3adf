//go:build linux

package defect

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var upgradeChangesStaging = &Defect{
	Name: "upgrade-changes-staging",
	Does: "this release stages volumes below the staging path, where the old release has staged nothing",
	Call: func(_ *service.Driver, ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		request, is := req.(proto.Message)
		if !is {
			return handle(ctx, req)
		}
		request = proto.Clone(request)
		staging := field(request, "staging_target_path")
		if staging == nil || staging.text() == "" {
			return handle(ctx, req)
		}
		dir := filepath.Join(staging.text(), "volume")
		staging.set(dir)
		if _, stages := request.(*csi.NodeStageVolumeRequest); stages {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, err
			}
		}
		answer, err := handle(ctx, request)
		if _, unstages := request.(*csi.NodeUnstageVolumeRequest); unstages && err == nil {
			if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
		return answer, err
	},
}
