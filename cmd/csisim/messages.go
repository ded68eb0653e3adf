package main

import (
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// rare lists parts of the names of messages that most runs do not use.
var rare = []string{"Snapshot", "List", "Modify", "Expand", "Capacity", "Stats", "Condition", "GetVolume", "Metadata"}

// prepareMessages makes package proto build its data about the usual messages of CSI and driver
// registration. Otherwise package proto builds the data during the first simulation, and takes a
// fifth of its time.
func prepareMessages() {
	registrations := new(registration.PluginInfo).ProtoReflect().Descriptor().ParentFile()
	protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
		if file := m.Descriptor().ParentFile(); file != csi.File_csi_proto && file != registrations {
			return true
		}
		name := string(m.Descriptor().Name())
		if !slices.ContainsFunc(rare, func(part string) bool { return strings.Contains(name, part) }) {
			proto.Size(m.New().Interface())
		}
		return true
	})
}
