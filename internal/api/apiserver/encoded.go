package apiserver

import (
	"bytes"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/store"
)

var endOfLine = []byte("\n")

// encodings are the texts of the objects that there are now, each made when it is first
// asked for: an object never changes, and is reported in answers, lists and to all who watch.
type encodings struct {
	lock sync.RWMutex
	of   map[store.Object]*encoding
}

// encoding are the texts of one object.
type encoding struct {
	lock  sync.Mutex
	texts []encodedText // hardly ever more than two
}

type encodedText struct {
	kind      *servedKind
	mediaType string
	text      []byte
}

func newEncodings() *encodings { return &encodings{of: map[store.Object]*encoding{}} }

// learn keeps up with a write. It is called in the order of writes, with the store to
// itself.
func (e *encodings) learn(c store.Commit) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if c.Old != nil {
		delete(e.of, c.Old)
	}
	if c.New != nil {
		e.of[c.New] = &encoding{}
	}
}

// know makes room for the texts of objects. Whoever calls it has the store to itself, and
// has just found them in it.
func (e *encodings) know(objects []store.Object) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, obj := range objects {
		if e.of[obj] == nil {
			e.of[obj] = &encoding{}
		}
	}
}

// text is a stored object as the kind shows it, in JSON without the end of the line or in
// protobuf without the envelope. It must not be changed.
func (e *encodings) text(obj store.Object, k *servedKind, mediaType string) ([]byte, error) {
	e.lock.RLock()
	known := e.of[obj]
	e.lock.RUnlock()
	if known == nil { // it was replaced
		return encodedAs(k.presented(obj), mediaType)
	}
	return known.text(obj, k, mediaType)
}

func (e *encoding) text(obj store.Object, k *servedKind, mediaType string) ([]byte, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, t := range e.texts {
		if t.kind == k && t.mediaType == mediaType {
			return t.text, nil
		}
	}
	text, err := encodedAs(k.presented(obj), mediaType)
	if err == nil {
		e.texts = append(e.texts, encodedText{k, mediaType, text})
	}
	return text, err
}

// encodedAs is the text of one object, without what its place puts around it.
func encodedAs(obj runtime.Object, mediaType string) (text []byte, err error) {
	if message, ok := obj.(interface{ Marshal() ([]byte, error) }); ok && mediaType == typeProtobuf {
		text, err = message.Marshal()
	} else {
		var line bytes.Buffer
		err = serializerOf(mediaType).Serializer.Encode(obj, &line)
		text = bytes.TrimSuffix(line.Bytes(), endOfLine)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding a %T: %w", obj, err)
	}
	return text, nil
}
