package contract

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// VolumeCondition is the field volume_condition of CSI up to 1.12, in the answer of
// NodeGetVolumeStats and in the volume status of ListVolumes and ControllerGetVolume. CSI 1.13
// removed it from the bindings. Drivers still send it, so csisim reads and writes it in its wire
// format.
type VolumeCondition struct {
	Abnormal bool
	Message  string // required: for the user
}

const (
	conditionField = 2 // in all three messages
	abnormalField  = 1
	messageField   = 2
)

// ConditionOf reads the volume condition of an answer; ok is false if there is none.
func ConditionOf(m proto.Message) (c VolumeCondition, ok bool) {
	if m == nil || !m.ProtoReflect().IsValid() {
		return c, false
	}
	eachField(m.ProtoReflect().GetUnknown(), func(number protowire.Number, value []byte, _ uint64) {
		if number != conditionField {
			return
		}
		ok = true
		eachField(value, func(number protowire.Number, value []byte, varint uint64) {
			switch number {
			case abnormalField:
				c.Abnormal = varint != 0
			case messageField:
				c.Message = string(value)
			}
		})
	})
	return c, ok
}

// Put writes the volume condition into an answer.
func (c VolumeCondition) Put(m proto.Message) {
	var inner []byte
	if c.Abnormal {
		inner = protowire.AppendTag(inner, abnormalField, protowire.VarintType)
		inner = protowire.AppendVarint(inner, 1)
	}
	inner = protowire.AppendTag(inner, messageField, protowire.BytesType)
	inner = protowire.AppendString(inner, c.Message)
	outer := protowire.AppendTag(nil, conditionField, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(outer, inner))
}

// eachField visits the fields of an encoded message until the first malformed one.
func eachField(b []byte, visit func(number protowire.Number, value []byte, varint uint64)) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, kind, b)
		if size < 0 {
			return
		}
		switch kind {
		case protowire.BytesType:
			value, _ := protowire.ConsumeBytes(b)
			visit(number, value, 0)
		case protowire.VarintType:
			value, _ := protowire.ConsumeVarint(b)
			visit(number, nil, value)
		}
		b = b[size:]
	}
}
