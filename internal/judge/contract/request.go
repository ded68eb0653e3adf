package contract

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// VolumeOf returns the volume of a request: its id, or the name of a volume to create.
func VolumeOf(request proto.Message) string {
	switch r := request.(type) {
	case interface{ GetVolumeId() string }:
		return r.GetVolumeId()
	case interface{ GetName() string }:
		return r.GetName()
	default:
		return ""
	}
}

// RequiredBytes returns the least size that a request requires, 0 for none.
func RequiredBytes(request proto.Message) int64 {
	if r, ok := request.(interface{ GetCapacityRange() *csi.CapacityRange }); ok {
		return r.GetCapacityRange().GetRequiredBytes()
	}
	return 0
}

// PathFields are the fields of requests that hold a path on the node.
var PathFields = []protoreflect.Name{"staging_target_path", "target_path", "volume_path"}

// PathsOf returns the paths that a request to a node names.
func PathsOf(request proto.Message) []string {
	var paths []string
	m := request.ProtoReflect()
	for _, name := range PathFields {
		if field := m.Descriptor().Fields().ByName(name); field != nil && m.Get(field).String() != "" {
			paths = append(paths, m.Get(field).String())
		}
	}
	return paths
}
