package apiserver

import (
	"bytes"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/store"
)

var endOfLine = []byte("\n")

// encodings caches the encoded text of each current object at its first use. A stored object never
// changes, and the same text serves answers, lists and all watches.
type encodings struct {
	lock sync.RWMutex
	of   map[store.Object]*encoding
}

// encoding holds the texts of one object.
type encoding struct {
	lock  sync.Mutex
	texts []encodedText // rarely more than two
}

type encodedText struct {
	kind      *servedKind
	mediaType string
	text      []byte
}

func newEncodings() *encodings { return &encodings{of: map[store.Object]*encoding{}} }

// learn updates the cache after a write. It is called in the order of writes, with exclusive access
// to the store.
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

// know adds entries for objects. Its caller has exclusive access to the store, and has just read
// the objects from it.
func (e *encodings) know(objects []store.Object) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, obj := range objects {
		if e.of[obj] == nil {
			e.of[obj] = &encoding{}
		}
	}
}

// text returns a stored object in the form of the kind, in JSON without the newline or in protobuf
// without the envelope. Callers must not modify it.
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

// encodedAs encodes one object, without newline or envelope.
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
