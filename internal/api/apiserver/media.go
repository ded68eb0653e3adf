package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

// mediaTypeOptions are the requested form of an answer.
type mediaTypeOptions struct {
	info runtime.SerializerInfo
	// as is the kind to convert the object to, "" for none.
	as     string
	params map[string]string
	stream bool
}

var (
	serializers = scheme.Codecs.SupportedMediaTypes()
	plainJSON   = mediaTypeOptions{info: serializerOf(typeJSON)}
	offered     = []string{typeJSON, typeYAML, typeProtobuf}
	textForms   = []string{typeJSON, typeYAML}
)

// forms returns the media types of a kind's objects.
func (k *servedKind) forms() []string {
	if k.inProtobuf() {
		return offered
	}
	return textForms
}

func serializerOf(mediaType string) runtime.SerializerInfo {
	for _, info := range serializers {
		if info.MediaType == mediaType {
			return info
		}
	}
	panic("apiserver: client-go has no serializer for " + mediaType)
}

// views are the kinds to which any object or list can be converted, each with its versions.
var views = map[string][]string{
	"Table":                     {"v1", "v1beta1"},
	"PartialObjectMetadata":     {"v1", "v1beta1"},
	"PartialObjectMetadataList": {"v1", "v1beta1"},
}

// negotiate picks the first form that a client accepts and the server has. If the media type is
// available but the kind is not, the real server has another message.
func negotiate(accept string, offered []string, objects bool) (mediaTypeOptions, error) {
	if accept == "" {
		return plainJSON, nil
	}
	known := false
	for _, clause := range goautoneg.ParseAccept(accept) {
		m, ok := formOf(clause, offered, objects)
		switch {
		case ok && m.isOffered():
			return m, nil
		case ok:
			known = true
		}
	}
	if known {
		return plainJSON, notAcceptable("only the following media types are accepted: " + strings.Join(offered, ", "))
	}
	return plainJSON, plainError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(offered, ", "))
}

func notAcceptable(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable, Message: message,
	}}
}

// formOf returns the form of a clause: an available form, or any form.
func formOf(clause goautoneg.Accept, offered []string, objects bool) (mediaTypeOptions, bool) {
	for _, mediaType := range offered {
		kind, subtype, _ := strings.Cut(mediaType, "/")
		exact := clause.Type == kind && clause.SubType == subtype
		if !exact && (clause.Type != "*" || clause.SubType != "*") {
			continue
		}
		m := mediaTypeOptions{info: serializerOf(mediaType), params: clause.Params, stream: clause.Params["stream"] == "watch"}
		if objects {
			m.as = clause.Params["as"]
		}
		return m, true
	}
	return mediaTypeOptions{}, false
}

// isOffered reports whether objects can be shown as the requested kind. Tables are never in
// protobuf.
func (m mediaTypeOptions) isOffered() bool {
	if m.as == "" {
		return true
	}
	return slices.Contains(views[m.as], m.params["v"]) && m.params["g"] == metav1.GroupName &&
		(m.as != "Table" || m.info.MediaType != typeProtobuf)
}
