//go:build linux

package service

import (
	"context"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
)

// Exclusive admits one changing call per volume or snapshot at a time and answers ABORTED to calls
// that overlap it.
func Exclusive(set broken.Set) grpc.UnaryServerInterceptor {
	var mu sync.Mutex
	pending := map[string]bool{}

	enter := func(subject string) bool {
		mu.Lock()
		defer mu.Unlock()
		if pending[subject] {
			return false
		}
		pending[subject] = true
		return true
	}
	leave := func(subject string) {
		mu.Lock()
		defer mu.Unlock()
		delete(pending, subject)
	}
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		subject := subjectOf(req)
		if subject == "" || set.Has(broken.CallsOverlap) {
			return handle(ctx, req)
		}
		if !enter(subject) {
			return nil, status.Errorf(codes.Aborted, "an operation on %s is pending", subject)
		}
		defer func() {
			if ctx.Err() == nil || !set.Has(broken.DeadlineKeepsLock) {
				leave(subject)
			}
		}()
		return handle(ctx, req)
	}
}

// subjectOf returns the id of the object that the call changes, empty for a call that only reads.
func subjectOf(req any) string {
	switch r := req.(type) {
	case *csi.CreateVolumeRequest:
		return backend.VolumeID(r.GetName())
	case *csi.CreateSnapshotRequest:
		return backend.SnapshotID(r.GetName())
	case *csi.DeleteSnapshotRequest:
		return r.GetSnapshotId()
	case *csi.ControllerGetVolumeRequest, *csi.ValidateVolumeCapabilitiesRequest, *csi.NodeGetVolumeStatsRequest:
		return ""
	case interface{ GetVolumeId() string }:
		return r.GetVolumeId()
	default:
		return ""
	}
}
