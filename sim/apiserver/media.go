package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

// media is the form in which an answer is wanted.
type media struct {
	info runtime.SerializerInfo
	// as is the kind that the object is to be turned into, "" for itself.
	as     string
	params map[string]string
	stream bool
}

var (
	serializers = scheme.Codecs.SupportedMediaTypes()
	plainJSON   = media{info: serializerOf(typeJSON)}
	offered     = []string{typeJSON, typeYAML, typeProtobuf}
	textForms   = []string{typeJSON, typeYAML}
)

// forms are the forms in which the objects of a kind are offered.
func (k *kind) forms() []string {
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

// views are the kinds into which any object or list can be turned, each with the
// versions in which that is offered.
var views = map[string][]string{
	"Table":                     {"v1", "v1beta1"},
	"PartialObjectMetadata":     {"v1", "v1beta1"},
	"PartialObjectMetadataList": {"v1", "v1beta1"},
}

// negotiate picks the first form that a client wants and the server has.
func negotiate(accept string, offered []string, objects bool) (media, error) {
	if accept == "" {
		return plainJSON, nil
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		if m, ok := formOf(clause, offered, objects); ok {
			return m, nil
		}
	}
	return plainJSON, plainError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(offered, ", "))
}

func formOf(clause goautoneg.Accept, offered []string, objects bool) (media, bool) {
	for _, mediaType := range offered {
		kind, subtype, _ := strings.Cut(mediaType, "/")
		if clause.Type != kind && clause.Type != "*" || clause.SubType != subtype && clause.SubType != "*" {
			continue
		}
		m := media{info: serializerOf(mediaType), params: clause.Params, stream: clause.Params["stream"] == "watch"}
		if as := clause.Params["as"]; as != "" {
			if !objects || !slices.Contains(views[as], clause.Params["v"]) || clause.Params["g"] != metav1.GroupName {
				continue
			}
			m.as = as
		}
		return m, true
	}
	return media{}, false
}
