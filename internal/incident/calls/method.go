package calls

import (
	"cmp"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// method is an RPC of CSI.
type method struct {
	name            string // Controller/CreateVolume
	request, answer protoreflect.MessageType
}

// byName returns the RPCs by their names in lower case, without the service.
var byName = sync.OnceValue(func() map[string]*method { return methodsOf(csi.File_csi_proto) })

func methodsOf(file protoreflect.FileDescriptor) map[string]*method {
	found := map[string]*method{}
	for i := range file.Services().Len() {
		service := file.Services().Get(i)
		for j := range service.Methods().Len() {
			m := service.Methods().Get(j)
			found[strings.ToLower(string(m.Name()))] = &method{
				name: string(service.Name()) + "/" + string(m.Name()), request: typeOf(m.Input()), answer: typeOf(m.Output()),
			}
		}
	}
	return found
}

func typeOf(d protoreflect.MessageDescriptor) protoreflect.MessageType {
	t, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		panic(err) // the package registers its messages
	}
	return t
}

// separators are between the words of a name in the logs of mayastor.
var separators = strings.NewReplacer(" ", "", "_", "")

// methodNamed returns the RPC with a name such as "/csi.v1.Node/NodeStageVolume",
// "node_stage_volume" or "Publish Volume"; nil if CSI has none.
func methodNamed(name string) *method {
	name = separators.Replace(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]))
	return cmp.Or(byName()[name], byName()["controller"+name])
}

// Caller returns the component that makes calls of an RPC; empty if several components do.
func Caller(name string) string {
	switch service, rpc, _ := strings.Cut(name, "/"); {
	case service == "Node":
		return "kubelet"
	case strings.HasPrefix(rpc, "ControllerPublish"), strings.HasPrefix(rpc, "ControllerUnpublish"):
		return "csi-attacher"
	case rpc == "ControllerExpandVolume", rpc == "ControllerModifyVolume":
		return "csi-resizer"
	case rpc == "CreateVolume", rpc == "DeleteVolume", rpc == "GetCapacity":
		return "csi-provisioner"
	case strings.Contains(rpc, "Snapshot"):
		return "csi-snapshotter"
	}
	return ""
}

func newMessage(t protoreflect.MessageType) proto.Message { return t.New().Interface() }
