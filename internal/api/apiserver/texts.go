package apiserver

import (
	"bytes"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/store"
)

// inTexts reports whether an answer can be assembled from the texts of objects. This requires
// compact JSON or protobuf, without a conversion.
func (q *request) inTexts() bool {
	m := q.answer.media
	return m.as == "" && (m.info.MediaType == typeProtobuf || m.info.MediaType == typeJSON && !q.answer.isPretty())
}

// wholeText returns a stored object in the requested form, as a complete body.
func (q *request) wholeText(obj store.Object) ([]byte, error) {
	text, err := q.server.encoded.text(obj, q.kind, q.answer.media.info.MediaType)
	if err != nil {
		return nil, err
	}
	if q.answer.media.info.MediaType != typeProtobuf {
		return append(bytes.Clone(text), endOfLine...), nil
	}
	var whole bytes.Buffer
	version, kind := q.kind.gvk.ToAPIVersionAndKind()
	envelope := &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: kind}, Raw: text}
	err = q.answer.media.info.Serializer.Encode(envelope, &whole)
	return whole.Bytes(), err
}

// writeTexts writes a list from the texts of its items.
func (q *request) writeTexts(objects []store.Object, listMeta metav1.ListMeta) error {
	empty, err := q.kind.listOf(nil, listMeta)
	if err != nil {
		return err
	}
	texts := make([][]byte, len(objects))
	for i, obj := range objects {
		if texts[i], err = q.server.encoded.text(obj, q.kind, q.answer.media.info.MediaType); err != nil {
			return err
		}
	}
	if q.answer.media.info.MediaType == typeProtobuf {
		return q.writeProtobufList(empty, texts)
	}
	return q.writeJSONList(empty, texts)
}

// writeJSONList inserts the items into the encoding of the empty list. They omit their kind.
func (q *request) writeJSONList(empty runtime.Object, items [][]byte) error {
	frame, err := encodedAs(empty, typeJSON)
	if err != nil {
		return err
	}
	const end = "]}"
	version, kind := q.kind.gvk.ToAPIVersionAndKind()
	repeated := fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, kind, version)
	size := len(frame) + 1
	for _, item := range items {
		size += len(item) + 1
	}
	text := append(make([]byte, 0, size), bytes.TrimSuffix(frame, []byte(end))...)
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		if fields, ok := bytes.CutPrefix(item, repeated); ok {
			text, item = append(text, '{'), fields
		}
		text = append(text, item...)
	}
	q.answer.body(http.StatusOK, typeJSON, append(append(text, end...), endOfLine...))
	return nil
}

func (q *request) writeProtobufList(empty runtime.Object, items [][]byte) error {
	metadata, err := encodedAs(empty, typeProtobuf)
	if err != nil {
		return err
	}
	return q.answer.encoded(http.StatusOK, &protobufList{empty, metadata, items})
}

// protobufList is a list of encoded items. All lists of Kubernetes have their metadata in field 1
// and their items in field 2.
type protobufList struct {
	runtime.Object // without items
	metadata       []byte
	items          [][]byte
}

const itemsField protowire.Number = 2

func (l *protobufList) Size() int {
	size := len(l.metadata)
	for _, item := range l.items {
		size += protowire.SizeTag(itemsField) + protowire.SizeBytes(len(item))
	}
	return size
}

// MarshalTo encodes into data, which must be large enough.
func (l *protobufList) MarshalTo(data []byte) (int, error) {
	data = append(data[:0], l.metadata...)
	for _, item := range l.items {
		data = protowire.AppendBytes(protowire.AppendTag(data, itemsField, protowire.BytesType), item)
	}
	return len(data), nil
}
