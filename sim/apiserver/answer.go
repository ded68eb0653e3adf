package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/sim/store"
)

// answer writes what a client gets, in the form it wants.
type answer struct {
	w     http.ResponseWriter
	media media
}

func (a *answer) failure(err error) {
	if errors.Is(err, errPanicked) {
		a.panicked()
		return
	}
	status := statusOf(err)
	if after := retryAfter(status); after != "" {
		a.w.Header().Set("Retry-After", after)
	}
	plain := *a
	plain.media.as = ""
	_ = plain.encoded(int(status.Code), status)
}

// warn tells a client of a mistake that is not held against it.
func (a *answer) warn(text string) {
	a.w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
}

// encoded writes an object as it is.
func (a *answer) encoded(code int, obj runtime.Object) error {
	var body bytes.Buffer
	serializer := a.media.info.Serializer
	if pretty := a.media.info.PrettySerializer; pretty != nil && a.media.params["pretty"] == "1" {
		serializer = pretty
	}
	if err := serializer.Encode(obj, &body); err != nil {
		return fmt.Errorf("encoding a %T: %w", obj, err)
	}
	a.body(code, a.media.info.MediaType, body.Bytes())
	return nil
}

func (a *answer) body(code int, contentType string, body []byte) {
	header := a.w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-cache, private")
	a.w.WriteHeader(code)
	_, _ = a.w.Write(body) // a client that is gone wants no answer
}

// json writes what is not an object of the API.
func (a *answer) json(code int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding a %T: %w", value, err)
	}
	a.body(code, typeJSON, append(body, '\n'))
	return nil
}

// writeObject writes one stored object, or a Status, in the form that is wanted.
func (q *request) writeObject(code int, obj runtime.Object) error {
	view, err := q.view(obj)
	if err != nil {
		return err
	}
	return q.answer.encoded(code, view)
}

// view turns a stored object into the form that is wanted. A Status stays one.
func (q *request) view(obj runtime.Object) (runtime.Object, error) {
	stored, ok := obj.(store.Object)
	switch as := q.answer.media.as; {
	case !ok:
		return obj, nil
	case as == "Table":
		return q.tableOf([]store.Object{stored}, metav1.ListMeta{ResourceVersion: stored.GetResourceVersion()})
	case as != "":
		return partialOf(stored, q.answer.media)
	}
	return q.kind.presented(stored), nil
}
