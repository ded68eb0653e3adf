// Package calls is what scenarios say of CSI calls: the methods there are, patterns that calls are held
// against, and the list of a run's calls that a person can read.
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

// methods are the CSI methods by their short names, such as NodeStageVolume.
// Reading them off the files takes a while, and most runs name none.
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

// IsMethod says whether the name, in which * stands for any text, is that of a CSI method.
func IsMethod(name string) bool {
	if _, is := methods()[name]; is {
		return true
	}
	return slices.ContainsFunc(Methods(), func(method string) bool { return partial.Wildcard(name, method) })
}

// MayReachNode says whether the name, in which * stands for any text, can be that of a call to a node plugin.
func MayReachNode(name string) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool {
		service := string(methods()[method].Parent().Name())
		return partial.Wildcard(name, method) && !strings.HasSuffix(service, "Controller")
	})
}

// MayBe says whether the name, in which * stands for any text, can be that of a method that is as wanted.
func MayBe(name string, wanted func(method string) bool) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool { return partial.Wildcard(name, method) && wanted(method) })
}

// Short is the method without its service: NodeStageVolume of Node/NodeStageVolume.
func Short(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }

// asking are the methods by which callers only ask what a driver is and can do. Real callers make them
// before nearly every other call.
var asking = map[string]bool{
	"GetPluginInfo": true, "GetPluginCapabilities": true, "Probe": true,
	"ControllerGetCapabilities": true, "GroupControllerGetCapabilities": true, "NodeGetCapabilities": true,
}

// IsAsking says whether a call only asks what the driver is and can do.
func IsAsking(e *trace.Event) bool { return asking[Short(e.Method)] }

// CheckAnswer says what is wrong with the answer of a method, as JSON; of a pattern, with that of some method.
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
