package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/store"
)

// answer writes the response to a client, in the form that the client has requested.
type answer struct {
	w     http.ResponseWriter
	media mediaTypeOptions
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

// warnOfMistake warns a client of a mistake in a body that is accepted nevertheless.
func (a *answer) warnOfMistake(mistake error) {
	text, ofYAML := strings.CutPrefix(mistake.Error(), "yaml: unmarshal errors:\n  ")
	if !ofYAML {
		a.warn(text)
		return
	}
	for _, line := range strings.Split(text, "\n  ") {
		a.warn(line)
	}
}

// warn sends a warning to a client.
func (a *answer) warn(text string) {
	a.w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
}

// encoded writes an object without changes.
func (a *answer) encoded(code int, obj runtime.Object) error {
	serializer := a.media.info.Serializer
	if a.isPretty() {
		serializer = a.media.info.PrettySerializer
	}
	body := &lateAnswer{answer: a, code: code}
	if err := serializer.Encode(obj, body); err != nil && !body.begun {
		return fmt.Errorf("encoding a %T: %w", obj, err)
	}
	return nil // the client has closed the connection
}

// isPretty reports whether indented JSON is requested.
func (a *answer) isPretty() bool {
	return a.media.info.PrettySerializer != nil && a.media.params["pretty"] == "1"
}

// lateAnswer starts the response only with its first byte, so until then another response can
// replace it.
type lateAnswer struct {
	*answer
	code  int
	begun bool
}

func (l *lateAnswer) Write(text []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.begin(l.code, l.media.info.MediaType)
	}
	return l.w.Write(text)
}

func (a *answer) begin(code int, contentType string) {
	header := a.w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-cache, private")
	a.w.WriteHeader(code)
}

func (a *answer) body(code int, contentType string, body []byte) {
	a.begin(code, contentType)
	_, _ = a.w.Write(body) // the client may have closed the connection
}

// json writes a value that is not an object of the API.
func (a *answer) json(code int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding a %T: %w", value, err)
	}
	a.body(code, typeJSON, append(body, '\n'))
	return nil
}

// writeObject writes one stored object, or a Status, in the requested form.
func (q *request) writeObject(code int, obj runtime.Object) error {
	if stored, ok := obj.(store.Object); ok && q.inTexts() {
		text, err := q.wholeText(stored)
		if err == nil {
			q.answer.body(code, q.answer.media.info.MediaType, text)
		}
		return err
	}
	view, err := q.view(obj)
	if err != nil {
		return err
	}
	return q.answer.encoded(code, view)
}

// view converts a stored object to the requested form. A Status is not changed.
func (q *request) view(obj runtime.Object) (runtime.Object, error) {
	stored, ok := obj.(store.Object)
	switch as := q.answer.media.as; {
	case !ok:
		return obj, nil
	case as == "Table":
		return q.tableOf(q.kind.columns(), []store.Object{stored}, metav1.ListMeta{ResourceVersion: stored.GetResourceVersion()})
	case as == "PartialObjectMetadataList":
		return nil, notAcceptable(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (*%s.%s)", q.kind.internalName(), q.kind.gvk.Kind))
	case as != "":
		return partialOf(stored, q.answer.media)
	}
	return q.kind.presented(stored), nil
}
