//go:build linux

package defect

import (
	"context"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// newHandle is the prefix of the volume ids of the new release.
const newHandle = "v2-"

var upgradeChangesHandles = &Defect{
	Name: "upgrade-changes-handles",
	Does: "this release gives volumes other ids, and does not find those of the old release",
	Call: func(_ *service.Driver, ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		request, is := req.(proto.Message)
		if !is {
			return handle(ctx, req)
		}
		request = proto.Clone(request)
		if id := field(request, "volume_id"); id != nil && id.text() != "" {
			own, is := strings.CutPrefix(id.text(), newHandle)
			if !is {
				return nil, status.Errorf(codes.NotFound, "volume %q does not exist", id.text())
			}
			id.set(own)
		}
		answer, err := handle(ctx, request)
		if made, is := answer.(*csi.CreateVolumeResponse); is && err == nil {
			made = proto.CloneOf(made)
			made.Volume.VolumeId = newHandle + made.GetVolume().GetVolumeId()
			return made, nil
		}
		return answer, err
	},
}

// textField is a field of a message that is a string.
type textField struct {
	message protoreflect.Message
	of      protoreflect.FieldDescriptor
}

// field returns a field of a message; nil if there is no field with that name.
func field(m proto.Message, name protoreflect.Name) *textField {
	of := m.ProtoReflect().Descriptor().Fields().ByName(name)
	if of == nil || of.Kind() != protoreflect.StringKind {
		return nil
	}
	return &textField{m.ProtoReflect(), of}
}

func (f *textField) text() string    { return f.message.Get(f.of).String() }
func (f *textField) set(text string) { f.message.Set(f.of, protoreflect.ValueOfString(text)) }
