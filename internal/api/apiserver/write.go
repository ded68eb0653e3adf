package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/unsimulated"
	"github.com/csisim/csisim/internal/world/store"
)

// part is the part of an object that a write changes.
type part string

const (
	mainPart   part = ""
	statusPart part = "status"
)

// awaitGiven waits for the version in the query.
func (q *request) awaitGiven() error {
	version := q.query.Get("resourceVersion")
	if version == "" {
		return nil
	}
	wanted, err := parseVersion(version)
	if err != nil {
		return err
	}
	return q.awaitVersion(wanted)
}

func (q *request) get() error {
	if err := q.awaitGiven(); err != nil {
		return err
	}
	var obj store.Object
	err := q.exclusively(func() (err error) {
		obj, err = q.object()
		return err
	})
	if err != nil {
		return err
	}
	return q.writeObject(http.StatusOK, obj)
}

func (q *request) create() error {
	options, err := q.createOptions()
	if err != nil {
		return err
	}
	obj, err := q.decode(options.fieldValidation)
	if err != nil {
		return err
	}
	if err := q.settleNamespace(obj); err != nil {
		return err
	}
	if err := q.checkNewNamespace(); err != nil {
		return err
	}
	var stored store.Object
	err = q.exclusively(func() (err error) {
		stored, err = q.server.store.CreateObject(q.kind.res, obj, q.recorded(options, mainPart)...)
		return err
	})
	if apierrors.IsAlreadyExists(err) {
		q.warnOf(obj) // it has no errors
	}
	if err != nil {
		return err
	}
	return q.written(http.StatusCreated, stored)
}

// written answers with the written object, and its warnings.
func (q *request) written(code int, stored store.Object) error {
	if q.info.subresource == "" {
		q.warnOf(stored)
	}
	return q.writeObject(code, stored)
}

func (q *request) warnOf(stored store.Object) {
	var texts []string
	if warnings := kind.Of(q.kind.res).Warnings; warnings != nil {
		texts = warnings(stored, q.before)
	}
	if q.before == nil {
		texts = append(texts, unsimulated.Of(stored)...)
	}
	for _, text := range append(texts, q.kind.warningsOfDefined(stored, q.before)...) {
		q.answer.warn(text)
	}
}

// settleNamespace sets an object's namespace to the namespace in the path, and clears it for a
// cluster-scoped object.
func (q *request) settleNamespace(obj store.Object) error {
	switch namespace := obj.GetNamespace(); {
	case namespace == q.info.namespace:
	case namespace == "", q.info.namespace == "":
		obj.SetNamespace(q.info.namespace)
	default:
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

func (q *request) update(what part) error {
	options, err := q.updateOptions()
	if err != nil {
		return err
	}
	obj, err := q.decode(options.fieldValidation)
	if err != nil {
		return err
	}
	if err := q.settleName(obj); err != nil {
		return err
	}
	if err := q.checkNames(); err != nil {
		return err
	}
	var stored store.Object
	created := false
	err = q.exclusively(func() (err error) {
		_, existed := q.server.store.GetObject(q.kind.res, q.key())
		created = !existed
		stored, err = q.put(obj, what, options)
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

// settleName checks that an object has the name in the path.
func (q *request) settleName(obj store.Object) error {
	switch {
	case obj.GetName() == "":
		return badRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", q.info.name)
	case obj.GetName() != q.info.name:
		return badRequest("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), q.info.name)
	}
	return q.settleNamespace(obj)
}

// put replaces an object, or a part of it, and makes the manager the owner of its fields.
func (q *request) put(obj store.Object, what part, options writeOptions, more ...store.WriteOption) (store.Object, error) {
	return q.replace(obj, what, append(more, q.recorded(options, what)...))
}

func (q *request) replace(obj store.Object, what part, options []store.WriteOption) (store.Object, error) {
	switch {
	case what == statusPart:
		return q.server.store.UpdateStatusObject(q.kind.res, obj, options...)
	case q.info.subresource == "resize":
		old, err := q.object()
		if err != nil {
			return nil, err
		}
		obj, options = kind.Resized(obj, old), append(options, store.Checked(kind.CheckResize))
		if err := kind.AllowResize(q.server.store, obj, old); err != nil {
			return nil, err
		}
	case q.info.subresource == "ephemeralcontainers":
		old, err := q.object()
		if err != nil {
			return nil, err
		}
		obj, options = kind.WithEphemeralContainers(obj, old), append(options, store.Checked(kind.CheckEphemeralContainers))
	}
	return q.server.store.UpdateObject(q.kind.res, obj, options...)
}

// recorded returns the store's options for a write that records the manager as owner of its fields.
func (q *request) recorded(options writeOptions, what part) []store.WriteOption {
	return append(options.forStore(q.kind), store.Finish(func(obj, old store.Object) error {
		q.before = old
		if err := q.mayWrite(obj, old); err != nil {
			return err
		}
		return q.server.managedFields.record(q.kind, what, obj, old, options.fieldManager)
	}))
}

// forStore returns the options of the store.
func (o writeOptions) forStore(k *servedKind) (options []store.WriteOption) {
	if o.dryRun {
		options = append(options, store.DryRun())
	}
	if k != nil && k.form != nil && k.form.Check != nil {
		options = append(options, store.Checked(k.form.Check))
	}
	return options
}

// succeeded returns the answer to a request that leaves no object.
func (q *request) succeeded(obj store.Object) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: obj.GetName(), Group: q.kind.gvr.Group, Kind: q.kind.gvr.Resource, UID: obj.GetUID(),
		},
	}
}
