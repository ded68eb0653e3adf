package apiserver

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/store"
)

// maxBody is the size limit of a body, in bytes.
const maxBody = 3 * 1024 * 1024

func (q *request) readBody() ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(q.Body, maxBody+1))
	if err != nil {
		return nil, badRequest("reading the body: %v", err)
	}
	if len(body) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return body, nil
}

// bodySerializer returns the serializer for the content type of the body.
func (q *request) bodySerializer() (runtime.SerializerInfo, error) {
	contentType := q.Header.Get("Content-Type")
	if contentType == "" {
		contentType = typeJSON
	}
	if mediaType, _, err := mime.ParseMediaType(contentType); err == nil {
		for _, known := range offered {
			if mediaType == known {
				return serializerOf(known), nil
			}
		}
	}
	return runtime.SerializerInfo{}, unsupportedBody(offered)
}

func unsupportedBody(accepted []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", "),
	}}
}

// decode reads the body as an object of the kind.
func (q *request) decode(validation string) (store.Object, error) {
	info, err := q.bodySerializer()
	if err != nil {
		return nil, err
	}
	body, err := q.readBody()
	if err != nil {
		return nil, err
	}
	return q.decodeBytes(info, body, validation)
}

func (q *request) decodeBytes(info runtime.SerializerInfo, body []byte, validation string) (store.Object, error) {
	serializer := info.Serializer
	if validation != metav1.FieldValidationIgnore && info.StrictSerializer != nil {
		serializer = info.StrictSerializer
	}
	into := q.kind.newObject()
	obj, gvk, err := q.kind.read(serializer, body, into)
	switch err = q.tolerate(validation, obj, err); {
	case err != nil:
		return nil, q.kind.decodeError(err, gvk, body)
	case obj != into:
		return nil, badRequest("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, q.kind.gvk.Kind, q.kind.unknownConversion(gvk))
	}
	if q.kind.custom != nil {
		if err := q.kind.checkKind(obj.(store.Object), gvk); err != nil {
			return nil, err
		}
	}
	if got, want := gvk.GroupVersion(), q.kind.gvk.GroupVersion(); got != want {
		return nil, badRequest("the API version in the data (%s) does not match the expected API version (%s)", got, want)
	}
	return q.kind.accepted(obj.(store.Object)), nil
}

// tolerate turns unknown and duplicate fields of a decoded object into warnings, unless validation
// is strict.
func (q *request) tolerate(validation string, read runtime.Object, err error) error {
	mistakes, ok := runtime.AsStrictDecodingError(err)
	if !ok || read == nil || validation == metav1.FieldValidationStrict {
		return err
	}
	for _, mistake := range mistakes.Errors() {
		q.answer.warnOfMistake(mistake)
	}
	return nil
}

// unknownConversion returns the error for an object of another kind.
func (k *servedKind) unknownConversion(gvk *schema.GroupVersionKind) error {
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", gvk.Version, gvk.Kind, k.internalName(), k.gvk.Kind)
}

// decodeError returns the error for a body that cannot be decoded.
func (k *servedKind) decodeError(err error, gvk *schema.GroupVersionKind, body []byte) error {
	if gvk != nil && gvk.Kind != "" {
		return badRequest("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, k.gvk.Kind, err)
	}
	return badRequest("the object provided is unrecognized (must be of type %s): %v (%s)", k.gvk.Kind, err, excerpt(body))
}

// excerpt returns the beginning of a body.
func excerpt(body []byte) string {
	const limit = 30
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{' && len(body) > limit:
		return string(body[:limit]) + " ..."
	case body[0] == '{':
		return string(body)
	case len(body) > limit:
		return fmt.Sprintf("%x ...", body[:limit])
	}
	return fmt.Sprintf("%x", body)
}
