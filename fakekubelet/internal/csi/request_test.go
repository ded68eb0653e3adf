package csi

import (
	"strings"
	"testing"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A step without a driver: any call would panic.
//
// conformance: unit-publish-request-no-id, unit-publish-request-no-path,
// unit-unpublish-request-no-id, unit-stage-request-no-id, unit-unstage-request-no-id,
// unit-node-expand-request-no-id, unit-node-expand-request-no-path,
// unit-node-expand-request-bad-size, unit-stage-empty-handle, unit-stage-empty-staging-path,
// unit-stats-no-path
func TestCallsThatLackSomethingAreNotMade(t *testing.T) {
	s, spec := &step{}, persistentSpec("h1")
	_, withoutPath := s.stats("h1", "")
	for want, made := range map[string]error{
		"stage: missing volume id":             s.stage(spec, &csispec.NodeStageVolumeRequest{StagingTargetPath: "/s"}, mountWith{}),
		"stage: missing staging target path":   s.stage(spec, &csispec.NodeStageVolumeRequest{VolumeId: "h1"}, mountWith{}),
		"publish: missing volume id":           s.publish(spec, &csispec.NodePublishVolumeRequest{TargetPath: "/t"}, mountWith{}),
		"publish: missing target path":         s.publish(spec, &csispec.NodePublishVolumeRequest{VolumeId: "h1"}, mountWith{}),
		"unpublish: missing volume id":         s.unpublish("", "/t"),
		"unpublish: missing target path":       s.unpublish("h1", ""),
		"unstage: missing volume id":           s.unstage("", "/s"),
		"unstage: missing staging target path": s.unstage("h1", ""),
		"stats: missing volume path":           withoutPath,
		"expand: missing volume id":            s.expand(Expansion{Spec: persistentSpec(""), Path: "/t"}, nil),
		"expand: missing volume path":          s.expand(Expansion{Spec: spec}, nil),
		"expand: size can not be less than 0":  s.expand(Expansion{Spec: spec, Path: "/t", Size: resource.MustParse("-10Gi")}, nil),
	} {
		_, text, _ := strings.Cut(want, ": ")
		assert.EqualError(t, made, text, want)
		assert.True(t, IsFinal(made))
	}
}
