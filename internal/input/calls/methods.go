// Package calls lets scenarios describe CSI calls: the methods, patterns that match calls, and a
// readable list of a run's calls.
package calls

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/trace"
)

// methods are the CSI methods by their short names, such as NodeStageVolume. They are read from the
// descriptors at their first use, because most runs do not need them.
var methods = sync.OnceValue(func() map[string]protoreflect.MethodDescriptor {
	found := map[string]protoreflect.MethodDescriptor{}
	for _, file := range append(addons, csi.File_csi_proto) {
		services := file.Services()
		for i := range services.Len() {
			all := services.Get(i).Methods()
			for j := range all.Len() {
				found[string(all.Get(j).Name())] = all.Get(j)
			}
		}
	}
	return found
})

// addons are the files of CSI-Addons.
var addons = []protoreflect.FileDescriptor{
	identity.File_identity_identity_proto, reclaimspace.File_reclaimspace_reclaimspace_proto, fence.File_fence_fence_proto,
	replication.File_replication_replication_proto, volumegroup.File_volumegroup_volumegroup_proto,
	encryptionkeyrotation.File_encryptionkeyrotation_encryptionkeyrotation_proto,
}

// Methods lists the CSI methods' short names.
func Methods() []string { return slices.Sorted(maps.Keys(methods())) }

// IsMethod reports whether a pattern, in which * stands for any text, matches a CSI method.
func IsMethod(name string) bool {
	if _, is := methods()[name]; is {
		return true
	}
	return slices.ContainsFunc(Methods(), func(method string) bool { return partial.Wildcard(name, method) })
}

// MayReachNode reports whether a pattern, in which * stands for any text, matches a method of node
// plugins.
func MayReachNode(name string) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool {
		service := string(methods()[method].Parent().Name())
		return partial.Wildcard(name, method) && !strings.HasSuffix(service, "Controller")
	})
}

// MayBe reports whether a pattern, in which * stands for any text, matches a method that satisfies
// wanted.
func MayBe(name string, wanted func(method string) bool) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool { return partial.Wildcard(name, method) && wanted(method) })
}

// Short returns the method without its service: NodeStageVolume for Node/NodeStageVolume.
func Short(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }

// asking are the methods by which callers only request the identity and capabilities of a driver.
// Real callers call them before nearly every other call.
var asking = map[string]bool{
	"GetPluginInfo": true, "GetPluginCapabilities": true, "Probe": true,
	"ControllerGetCapabilities": true, "GroupControllerGetCapabilities": true, "NodeGetCapabilities": true,
}

// IsAsking reports whether a call only requests the identity or capabilities of the driver.
func IsAsking(e *trace.Event) bool { return asking[Short(e.Method)] }

// CheckAnswer returns a mistake in an answer, given as JSON, for a method or a pattern of methods.
func CheckAnswer(name string, answer []byte) error {
	var wrong error
	for _, method := range Methods() {
		if !partial.Wildcard(name, method) {
			continue
		}
		if wrong = protojson.Unmarshal(answer, dynamicpb.NewMessage(methods()[method].Output())); wrong == nil {
			return nil
		}
	}
	return wrong
}
