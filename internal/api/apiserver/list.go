package apiserver

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// listOptions are the options of a list or a watch, with its selectors in the form of the kind.
type listOptions struct {
	metainternal.ListOptions
	labels labels.Selector
	fields fields.Selector
}

func (q *request) listOptions() (listOptions, error) {
	var o listOptions
	if err := metascheme.ParameterCodec.DecodeParameters(q.query, metav1.SchemeGroupVersion, &o.ListOptions); err != nil {
		return o, badRequest("%v", err)
	}
	if err := invalidOptions("ListOptions", validation.ValidateListOptions(&o.ListOptions, true)); err != nil {
		return o, err
	}
	o.labels, o.fields = labels.Everything(), fields.Everything()
	if o.LabelSelector != nil {
		o.labels = o.LabelSelector
	}
	if o.FieldSelector != nil {
		known, err := q.kind.settleFields(o.FieldSelector)
		if err != nil {
			return o, err
		}
		o.fields = known
	}
	if q.info.name != "" {
		o.fields = fields.AndSelectors(o.fields, fields.OneTermEqualSelector("metadata.name", q.info.name))
	}
	return o, nil
}

func (q *request) listOrWatch() error {
	o, err := q.listOptions()
	if err != nil {
		return err
	}
	if o.Watch || q.info.watch {
		return q.watch(o)
	}
	return q.list(o)
}

func (q *request) list(o listOptions) error {
	page, err := q.pageOf(o)
	if err != nil {
		return err
	}
	if err := q.awaitVersion(page.atLeast); err != nil {
		return err
	}
	var objects []store.Object
	var listMeta metav1.ListMeta
	err = q.exclusively(func() (err error) {
		objects, listMeta, err = q.page(o, page)
		return err
	})
	if err != nil {
		return err
	}
	return q.writeList(objects, listMeta)
}

// selects reports whether a list or a watch with these options shows the object.
func (q *request) selects(o listOptions, obj store.Object) bool {
	if obj == nil || q.info.namespace != "" && obj.GetNamespace() != q.info.namespace {
		return false
	}
	return (o.labels.Empty() || o.labels.Matches(labels.Set(obj.GetLabels()))) &&
		(o.fields.Empty() || o.fields.Matches(q.kind.fieldsOf(obj)))
}

// selected returns the current objects, in the order of their keys.
func (q *request) selected(o listOptions) []store.Object {
	var objects []store.Object
	for obj := range q.server.store.ListObjects(q.kind.res, q.info.namespace) {
		if q.selects(o, obj) {
			objects = append(objects, obj)
		}
	}
	return objects
}

// stateAt returns the objects at a past version. It starts with the current objects and reverts the
// later writes.
func (q *request) stateAt(revision uint64) ([]store.Object, error) {
	commits, _, _, err := q.server.history.since(revision)
	if err != nil {
		return nil, err
	}
	state := map[store.Key]store.Object{}
	for obj := range q.server.store.ListObjects(q.kind.res, q.info.namespace) {
		state[store.KeyOf(obj)] = obj
	}
	for _, c := range slices.Backward(commits) {
		switch {
		case c.Resource != q.kind.res:
		case c.Old == nil:
			delete(state, c.Key)
		default:
			state[c.Key] = c.Old
		}
	}
	objects := make([]store.Object, 0, len(state))
	for _, obj := range state {
		objects = append(objects, obj)
	}
	slices.SortFunc(objects, func(a, b store.Object) int { return compareKeys(store.KeyOf(a), store.KeyOf(b)) })
	return objects, nil
}

func compareKeys(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// writeList writes objects as the list of the kind.
func (q *request) writeList(objects []store.Object, listMeta metav1.ListMeta) error {
	if q.answer.media.as == "Table" {
		table, err := q.tableOf(q.kind.columns(), objects, listMeta)
		if err != nil {
			return err
		}
		return q.answer.encoded(http.StatusOK, table)
	}
	if q.inTexts() && q.kind.custom == nil { // in custom lists, the items precede other fields
		return q.writeTexts(objects, listMeta)
	}
	list, err := q.kind.listOf(objects, listMeta)
	if err != nil {
		return err
	}
	if q.answer.media.as == "PartialObjectMetadata" {
		return notAcceptable(fmt.Sprintf("you requested PartialObjectMetadata, but the requested object is a list (*%s.%sList)", q.kind.internalName(), q.kind.gvk.Kind))
	}
	if q.answer.media.as != "" {
		if list, err = partialOf(list, q.answer.media); err != nil {
			return err
		}
	}
	return q.answer.encoded(http.StatusOK, list)
}

// listOf makes a typed list. Its items omit the kind.
func (k *servedKind) listOf(objects []store.Object, listMeta metav1.ListMeta) (runtime.Object, error) {
	if k.custom != nil {
		return k.customList(objects, listMeta), nil
	}
	gvk := k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List")
	list, err := k.types().New(gvk)
	if err != nil {
		return nil, err
	}
	list.GetObjectKind().SetGroupVersionKind(gvk)
	list.(metav1.ListMetaAccessor).GetListMeta().SetResourceVersion(listMeta.ResourceVersion)
	list.(metav1.ListMetaAccessor).GetListMeta().SetContinue(listMeta.Continue)
	list.(metav1.ListMetaAccessor).GetListMeta().SetRemainingItemCount(listMeta.RemainingItemCount)
	return list, k.setItems(list, objects)
}

// customList makes the list of a custom kind. Its items have the kind.
func (k *servedKind) customList(objects []store.Object, listMeta metav1.ListMeta) runtime.Object {
	list := &unstructured.UnstructuredList{Object: map[string]any{}, Items: make([]unstructured.Unstructured, len(objects))}
	list.SetGroupVersionKind(k.gvk.GroupVersion().WithKind(k.custom.listKind))
	list.SetResourceVersion(listMeta.ResourceVersion)
	list.SetContinue(listMeta.Continue)
	list.SetRemainingItemCount(listMeta.RemainingItemCount)
	for i, obj := range objects {
		list.Items[i] = *k.presented(obj).(*unstructured.Unstructured)
	}
	return list
}

func (k *servedKind) setItems(list runtime.Object, objects []store.Object) error {
	items := make([]runtime.Object, len(objects))
	for i, obj := range objects {
		items[i] = k.presented(obj)
	}
	if err := meta.SetList(list, items); err != nil {
		return err
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		item.GetObjectKind().SetGroupVersionKind(noKind)
		return nil
	})
}

// parseVersion parses a client's resourceVersion.
func parseVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), text, err.Error())
	}
	return version, nil
}

// patience bounds the time that a request waits for a future version.
const patience = 3 * time.Second

// awaitVersion waits until the store has a version, and fails after the patience.
func (q *request) awaitVersion(wanted uint64) error {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		latest, more := q.server.history.waiting()
		if latest >= wanted {
			return nil
		}
		select {
		case <-more:
		case <-q.Context().Done():
			return q.Context().Err()
		case <-timeout.C:
			return versionTooLarge(wanted, latest)
		}
	}
}
