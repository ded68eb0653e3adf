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
)

// locks is the set of volumes and snapshots with a call in progress.
type locks struct {
	mu      sync.Mutex
	pending map[string]bool
}

func newLocks() *locks { return &locks{pending: map[string]bool{}} }

func (l *locks) Enter(subject string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[subject] {
		return false
	}
	l.pending[subject] = true
	return true
}

func (l *locks) Leave(_ context.Context, subject string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, subject)
}

// Exclusive admits one changing call per volume or snapshot at a time and answers ABORTED to calls
// that overlap it.
func Exclusive(locks Locks) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		subject := subjectOf(req)
		if subject == "" {
			return handle(ctx, req)
		}
		if !locks.Enter(subject) {
			return nil, status.Errorf(codes.Aborted, "an operation on %s is pending", subject)
		}
		defer locks.Leave(ctx, subject)
		return handle(ctx, req)
	}
}

// subjectOf returns the id of the object that the call changes; empty for a call that only reads.
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
