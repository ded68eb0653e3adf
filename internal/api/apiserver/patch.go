package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/csisim/csisim/internal/world/store"
)

// patchTypes are the supported types of patches, in the order of error messages.
var patchTypes = []types.PatchType{
	types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType,
}

// customPatchTypes are the types of patches for custom kinds. Without a Go type the merging of
// lists is undefined.
var customPatchTypes = []types.PatchType{types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType}

func texts[T ~string](values []T) (all []string) {
	for _, value := range values {
		all = append(all, string(value))
	}
	return all
}

// maxPatchOperations limits the operations of a JSON patch.
const maxPatchOperations = 10_000

// patcher executes one patch.
type patcher struct {
	*request
	options writeOptions
	force   bool
	body    []byte
	what    part
	// mistakes are duplicate fields of the patch, and fields that its type does not have.
	mistakes []error
}

func (q *request) patch(what part) error {
	form, err := q.patchType()
	if err != nil {
		return err
	}
	var o metav1.PatchOptions
	if err := q.readOptions(&o); err != nil {
		return err
	}
	if err := invalidOptions("PatchOptions", validation.ValidatePatchOptions(&o, form)); err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	p := &patcher{
		request: q, options: q.writeOptions(o.DryRun, o.FieldManager, o.FieldValidation),
		force: o.Force != nil && *o.Force, body: body, what: what,
	}
	var stored store.Object
	created := false
	err = q.exclusively(func() (err error) {
		if form == types.ApplyYAMLPatchType {
			stored, created, err = p.apply()
			return err
		}
		stored, err = p.change(form)
		return err
	})
	if err != nil {
		return err
	}
	if created {
		return q.written(http.StatusCreated, stored)
	}
	return q.written(http.StatusOK, stored)
}

func (q *request) patchType() (types.PatchType, error) {
	given, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	offered := patchTypes
	if q.kind.custom != nil {
		offered = customPatchTypes
	}
	for _, known := range offered {
		if given == string(known) {
			return known, nil
		}
	}
	if q.kind.custom != nil {
		return "", unsupportedBody(texts(customPatchTypes))
	}
	return "", plainError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type")
}

// change patches the current object.
func (p *patcher) change(form types.PatchType) (store.Object, error) {
	old, err := p.object()
	if err != nil {
		return nil, err
	}
	patched, err := p.patched(form, old)
	if err != nil {
		return nil, err
	}
	if err := p.settleName(patched); err != nil {
		return nil, err
	}
	return p.put(patched, p.what, p.options, store.Patched())
}

func (p *patcher) patched(form types.PatchType, old store.Object) (store.Object, error) {
	text, err := json.Marshal(p.kind.presented(old))
	if err != nil {
		return nil, err
	}
	switch form {
	case types.JSONPatchType:
		text, err = p.jsonPatched(text)
	case types.MergePatchType:
		text, err = p.mergePatched(text)
	default:
		return p.strategicPatched(text)
	}
	if err != nil {
		return nil, err
	}
	return p.reread(text)
}

func (p *patcher) jsonPatched(text []byte) ([]byte, error) {
	var operations []jsonPatchOp
	if err := json.Unmarshal(p.body, &operations); err != nil {
		return nil, badRequest("error decoding patch: %s", asHandlers(err))
	}
	p.readStrictly("json patch ", &[]jsonPatchOp{})
	if len(operations) > maxPatchOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(operations)))
	}
	patch, err := jsonpatch.DecodePatch(p.body)
	if err != nil {
		return nil, badRequest("error decoding patch: %v", err)
	}
	changed, err := patch.Apply(text)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return changed, nil
}

// jsonPatchOp is one operation of a JSON patch.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// asHandlers renames the type of an operation in an error message to its name in the real server.
func asHandlers(err error) string {
	return strings.ReplaceAll(err.Error(), "apiserver.jsonPatchOp", "handlers.jsonPatchOp")
}

func (p *patcher) mergePatched(text []byte) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(p.body, &fields); err != nil {
		return nil, badRequest("error decoding patch: %v", err)
	}
	p.readStrictly("", &map[string]any{})
	changed, err := jsonpatch.MergePatch(text, p.body)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return changed, nil
}

// readStrictly looks for mistakes in the patch. They are reported with the patched object.
func (p *patcher) readStrictly(form string, into any) {
	if p.options.fieldValidation == metav1.FieldValidationIgnore {
		return
	}
	mistakes, err := kjson.UnmarshalStrict(p.body, into)
	if err != nil {
		return // invalid JSON is rejected elsewhere
	}
	for _, mistake := range mistakes {
		p.mistakes = append(p.mistakes, errors.New(form+mistake.Error()))
	}
}

// tolerateAll is tolerate for a patched object and its patch.
func (p *patcher) tolerateAll(read runtime.Object, err error) error {
	all := p.mistakes
	if found, ok := runtime.AsStrictDecodingError(err); ok {
		all = append(all, found.Errors()...)
	} else if err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	return p.tolerate(p.options.fieldValidation, read, runtime.NewStrictDecodingError(all))
}

// reread decodes the patched text.
func (p *patcher) reread(text []byte) (store.Object, error) {
	serializer := plainJSON.info.Serializer
	if p.options.fieldValidation != metav1.FieldValidationIgnore {
		serializer = plainJSON.info.StrictSerializer
	}
	into := p.kind.newObject()
	obj, gvk, err := p.kind.read(serializer, text, into)
	if err := p.tolerateAll(obj, err); err != nil {
		return nil, invalidPatch(string(text), err)
	}
	if obj != into {
		return nil, invalidPatch(string(text), p.kind.unknownConversion(gvk))
	}
	return p.kind.accepted(obj.(store.Object)), nil
}

func invalidPatch(value any, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), value, err.Error())})
}

func (p *patcher) strategicPatched(text []byte) (store.Object, error) {
	var patch, document map[string]any
	if err := json.Unmarshal(p.body, &patch); err != nil {
		return nil, badRequest("error decoding patch: %v", err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	p.readStrictly("", &map[string]any{})
	fields, err := strategicpatch.NewPatchMetaFromStruct(p.kind.newObject())
	if err != nil {
		return nil, err
	}
	changed, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(document, patch, fields)
	switch {
	case errors.Is(err, mergepatch.ErrBadJSONDoc), mergepatch.IsPreconditionFailed(err):
		return nil, badRequest("%v", err)
	case err != nil:
		return nil, err
	}
	obj := p.kind.newObject()
	strict := p.options.fieldValidation != metav1.FieldValidationIgnore
	if err := p.tolerateAll(obj, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(changed, obj, strict)); err != nil {
		return nil, invalidPatch(fmt.Sprintf("%+v", patch), err)
	}
	return p.kind.accepted(obj), nil
}
