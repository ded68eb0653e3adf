package calls

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// text is a string field of a message, empty if the message has no such field or is nil.
func text(m proto.Message, name protoreflect.Name) string {
	if m == nil || !m.ProtoReflect().IsValid() {
		return ""
	}
	field := m.ProtoReflect().Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind || field.IsList() || field.IsMap() {
		return ""
	}
	return m.ProtoReflect().Get(field).String()
}

// volumeID is the id of the volume that a request is about, empty for none.
func volumeID(request proto.Message) string {
	if r, ok := request.(interface{ GetVolumeId() string }); ok && r.GetVolumeId() != "" {
		return r.GetVolumeId()
	}
	if r, ok := request.(interface{ GetSourceVolumeId() string }); ok {
		return r.GetSourceVolumeId()
	}
	return ""
}
