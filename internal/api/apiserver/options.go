package apiserver

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

var metaVersion = schema.GroupVersion{Version: "v1"}

// readOptions reads the query into options.
func (q *request) readOptions(into runtime.Object) error {
	if err := scheme.ParameterCodec.DecodeParameters(q.query, metaVersion, into); err != nil {
		return badRequest("%v", err)
	}
	return nil
}

// writeOptions are the common options of all writes.
type writeOptions struct {
	dryRun          bool
	fieldManager    string
	fieldValidation string
}

func (q *request) createOptions() (writeOptions, error) {
	var o metav1.CreateOptions
	if err := q.readOptions(&o); err != nil {
		return writeOptions{}, err
	}
	return q.writeOptions(o.DryRun, o.FieldManager, o.FieldValidation), invalidOptions("CreateOptions", validation.ValidateCreateOptions(&o))
}

func (q *request) updateOptions() (writeOptions, error) {
	var o metav1.UpdateOptions
	if err := q.readOptions(&o); err != nil {
		return writeOptions{}, err
	}
	return q.writeOptions(o.DryRun, o.FieldManager, o.FieldValidation), invalidOptions("UpdateOptions", validation.ValidateUpdateOptions(&o))
}

func (q *request) writeOptions(dryRun []string, manager, fieldValidation string) writeOptions {
	if manager == "" {
		manager = programName(q.Request)
	}
	if fieldValidation == "" {
		fieldValidation = metav1.FieldValidationWarn
	}
	return writeOptions{len(dryRun) > 0, manager, fieldValidation}
}

// programName returns the default field manager of a client: the beginning of its User-Agent.
func programName(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), "/")
	var short strings.Builder
	for _, c := range name {
		if !unicode.IsPrint(c) || short.Len()+utf8.RuneLen(c) > validation.FieldManagerMaxLength {
			break
		}
		short.WriteRune(c)
	}
	if short.Len() == 0 {
		return "unknown"
	}
	return short.String()
}
