//go:build linux

package service

import (
	"context"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

// CSI: "Operation pending for volume" is ABORTED.
func TestCallsThatOverlapOnOneVolumeAreAborted(t *testing.T) {
	id := backend.VolumeID("name")
	for name, tt := range map[string]struct {
		first, second any
		want          codes.Code
	}{
		"same volume":       {&csi.NodeStageVolumeRequest{VolumeId: "v"}, &csi.NodeUnstageVolumeRequest{VolumeId: "v"}, codes.Aborted},
		"other volume":      {&csi.NodeStageVolumeRequest{VolumeId: "v"}, &csi.NodeStageVolumeRequest{VolumeId: "w"}, codes.OK},
		"create and delete": {&csi.CreateVolumeRequest{Name: "name"}, &csi.DeleteVolumeRequest{VolumeId: id}, codes.Aborted},
		"reading is free":   {&csi.NodeStageVolumeRequest{VolumeId: "v"}, &csi.NodeGetVolumeStatsRequest{VolumeId: "v"}, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			admit := Exclusive(newLocks())
			answer := func(context.Context, any) (any, error) { return nil, nil }
			_, err := admit(t.Context(), tt.first, nil, func(ctx context.Context, _ any) (any, error) {
				_, err := admit(ctx, tt.second, nil, answer)
				return nil, err
			})
			assert.Equal(t, tt.want, status.Code(err))

			_, err = admit(t.Context(), tt.first, nil, answer)
			assert.NoError(t, err, "a finished call blocks nothing")
		})
	}
}

func TestPagesFollowEachOther(t *testing.T) {
	all := []int{1, 2, 3, 4, 5}
	var seen []int
	token := ""
	for {
		listed, next, err := page(all, token, 2)
		assert.NoError(t, err)
		seen = append(seen, listed...)
		if token = next; token == "" {
			break
		}
	}
	assert.Equal(t, all, seen)

	for _, wrong := range []string{"x", "-1", "6"} {
		_, _, err := page(all, wrong, 0)
		assert.Equal(t, codes.Aborted, status.Code(err), "token %q", wrong)
	}
}
