package apiserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

const scalePart part = "scale"

// serveScale shows and changes the number of replicas of an object.
func (q *request) serveScale() error {
	if q.Method == http.MethodGet || q.Method == http.MethodHead {
		return q.getScale()
	}
	if q.Method == http.MethodPatch {
		return q.patchScale()
	}
	options, err := q.updateOptions()
	if err != nil {
		return err
	}
	var wanted autoscalingv1.Scale
	if err := q.readAs(&wanted, kind.ScaleKind, options.fieldValidation); err != nil {
		return err
	}
	if err := q.checkNames(); err != nil {
		return err
	}
	return q.rescale(options, func(live *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
		return ownedScale(live, &wanted, options.fieldManager)
	})
}

func (q *request) getScale() error {
	if err := q.awaitGiven(); err != nil {
		return err
	}
	var shown *autoscalingv1.Scale
	err := q.exclusively(func() error {
		obj, err := q.object()
		if err == nil {
			shown = q.kind.scaleOf(obj)
		}
		return err
	})
	if err != nil {
		return err
	}
	return q.writeScale(shown)
}

func (q *request) writeScale(shown *autoscalingv1.Scale) error {
	// A Scale has the same form for every kind.
	media, err := negotiate(q.Header.Get("Accept"), offered, true)
	if err != nil {
		return err
	}
	q.answer.media = media
	switch media.as {
	case "":
		return q.answer.encoded(http.StatusOK, shown)
	case "Table":
		table, err := q.tableOf(kind.ScaleColumns, []store.Object{shown}, metav1.ListMeta{ResourceVersion: shown.ResourceVersion})
		if err != nil {
			return err
		}
		return q.answer.encoded(http.StatusOK, table)
	}
	partial, err := partialOf(shown, media)
	if err != nil {
		return err
	}
	return q.answer.encoded(http.StatusOK, partial)
}

func (q *request) patchScale() error {
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
		force: o.Force != nil && *o.Force, body: body, what: scalePart,
	}
	return q.rescale(p.options, func(live *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
		if form == types.ApplyYAMLPatchType {
			return p.appliedScale(live)
		}
		return p.patchedScale(form, live)
	})
}

func (p *patcher) patchedScale(form types.PatchType, live *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
	text, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	if form == types.JSONPatchType {
		text, err = p.jsonPatched(text)
	} else { // a Scale has no lists that a strategic patch could merge
		text, err = p.mergePatched(text)
	}
	if err != nil {
		return nil, err
	}
	serializer := plainJSON.info.Serializer
	if p.options.fieldValidation != metav1.FieldValidationIgnore {
		serializer = plainJSON.info.StrictSerializer
	}
	var wanted autoscalingv1.Scale
	read, _, err := serializer.Decode(text, &kind.ScaleKind, &wanted)
	if err := p.tolerateAll(read, err); err != nil {
		return nil, invalidPatch(string(text), err)
	}
	return ownedScale(live, &wanted, p.options.fieldManager)
}

// rescale sets the wanted number of replicas of the object. The owners of the number are recorded
// in the object, without a time.
// [k8s.io/kubernetes/pkg/registry/apps/deployment/storage scaleUpdatedObjectInfo]
func (q *request) rescale(options writeOptions, wanted func(live *autoscalingv1.Scale) (*autoscalingv1.Scale, error)) error {
	var shown *autoscalingv1.Scale
	err := q.exclusively(func() error {
		old, err := q.object()
		if err != nil {
			return err
		}
		obj, err := q.rescaled(old, wanted)
		if err != nil {
			return err
		}
		stored, err := q.replace(obj, scalePart, append(options.forStore(q.kind), store.Finish(q.mayWrite), store.Patched()))
		if err == nil {
			shown = q.kind.scaleOf(stored)
		}
		return err
	})
	if err != nil {
		return err
	}
	return q.writeScale(shown)
}

// rescaled returns a copy of the object with the wanted number of replicas.
func (q *request) rescaled(old store.Object, wanted func(live *autoscalingv1.Scale) (*autoscalingv1.Scale, error)) (store.Object, error) {
	owners := managedfields.NewScaleHandler(old.GetManagedFields(), q.kind.gvk.GroupVersion(), q.kind.replicasPaths())
	live := q.kind.scaleOf(old)
	var err error
	if live.ManagedFields, err = owners.ToSubresource(); err != nil {
		return nil, fmt.Errorf("read the owners of the replicas of %s: %w", old.GetName(), err)
	}
	scale, err := wanted(live)
	if err != nil {
		return nil, err
	}
	if err := q.checkScale(scale, old); err != nil {
		return nil, err
	}
	obj := old.DeepCopyObject().(store.Object)
	obj.SetResourceVersion(cmp.Or(scale.ResourceVersion, old.GetResourceVersion()))
	q.kind.setReplicas(obj, scale.Spec.Replicas)
	entries, err := owners.ToParent(scale.ManagedFields)
	if err != nil {
		return nil, fmt.Errorf("record the owners of the replicas of %s: %w", old.GetName(), err)
	}
	obj.SetManagedFields(entries)
	return obj, nil
}

// checkScale checks the wanted scale of an object.
func (q *request) checkScale(scale *autoscalingv1.Scale, old store.Object) error {
	if err := q.settleName(scale); err != nil {
		return err
	}
	if n := scale.Spec.Replicas; n < 0 {
		return apierrors.NewInvalid(kind.ScaleKind.GroupKind(), scale.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), n, "must be greater than or equal to 0"),
		})
	}
	if scale.UID != "" && scale.UID != old.GetUID() {
		part := q.kind.gvr.GroupResource()
		part.Resource += "/scale"
		//lint:ignore ST1005 these are the words of the API server
		return apierrors.NewConflict(part, old.GetName(), fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, old.GetUID()))
	}
	return nil
}

// scaleOf returns the scale subresource of an object.
func (k *servedKind) scaleOf(obj store.Object) *autoscalingv1.Scale {
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
	}}
	scale.SetGroupVersionKind(kind.ScaleKind)
	if custom, ok := obj.(*unstructured.Unstructured); ok {
		k.customScale(custom, scale)
	} else {
		kind.Of(k.res).Scale.Show(obj, scale)
	}
	return scale
}

func (k *servedKind) customScale(obj *unstructured.Unstructured, scale *autoscalingv1.Scale) {
	paths := k.custom.version.Scale()
	scale.Spec.Replicas = numberAt(obj, paths.SpecReplicasPath)
	scale.Status.Replicas = numberAt(obj, paths.StatusReplicasPath)
	if paths.LabelSelectorPath != nil {
		scale.Status.Selector, _, _ = unstructured.NestedString(obj.Object, fieldPath(*paths.LabelSelectorPath)...)
	}
}

func numberAt(obj *unstructured.Unstructured, path string) int32 {
	// Any other type counts as 0.
	n, _, _ := unstructured.NestedInt64(obj.Object, fieldPath(path)...)
	return int32(n)
}

func (k *servedKind) setReplicas(obj store.Object, n int32) {
	if custom, ok := obj.(*unstructured.Unstructured); ok {
		// The object was valid.
		_ = unstructured.SetNestedField(custom.Object, int64(n), fieldPath(k.custom.version.Scale().SpecReplicasPath)...)
		return
	}
	kind.Of(k.res).Scale.Set(obj, n)
}
