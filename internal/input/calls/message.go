package calls

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// text returns a string field of a message, empty if the message is nil or has no such field.
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

// volumeID returns the id of a request's volume, empty for none.
func volumeID(request proto.Message) string {
	if r, ok := request.(interface{ GetVolumeId() string }); ok && r.GetVolumeId() != "" {
		return r.GetVolumeId()
	}
	if r, ok := request.(interface{ GetSourceVolumeId() string }); ok {
		return r.GetSourceVolumeId()
	}
	return ""
}
