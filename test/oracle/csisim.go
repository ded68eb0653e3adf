package oracle

import (
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

func newStore() *store.Store {
	return kind.NewStore(store.Options{UID: func(string) types.UID { return uid }}, kind.NoServiceAccounts)
}

// apiKind is a kind in its stored form, or in another served form.
type apiKind struct {
	*store.Resource
	form *kind.Form
}

// apiOf returns the API of objects of a Go type.
func apiOf(obj store.Object) (apiKind, error) {
	for _, res := range store.Resources() {
		for i := range kind.Of(res).Forms {
			form := &kind.Of(res).Forms[i]
			if reflect.TypeOf(form.New()) == reflect.TypeOf(obj) {
				return apiKind{res, form}, nil
			}
		}
	}
	res, err := store.ResourceOf(obj)
	return apiKind{res, nil}, err
}

// groupVersion returns the version of the form.
func (a apiKind) groupVersion() schema.GroupVersion {
	if a.form == nil {
		return a.GVK.GroupVersion()
	}
	return a.form.GroupVersion
}

// accept converts an object from the served form to the stored form. present converts it back.
func (a apiKind) accept(obj store.Object) store.Object {
	if a.form == nil {
		return obj
	}
	return a.form.Accept(obj)
}

func (a apiKind) present(obj store.Object) store.Object {
	if a.form == nil {
		return obj
	}
	return a.form.Present(obj)
}

func (a apiKind) dryRun() []store.WriteOption {
	if a.form == nil || a.form.Check == nil {
		return []store.WriteOption{store.DryRun()}
	}
	return []store.WriteOption{store.DryRun(), store.Checked(a.form.Check)}
}

// created returns csisim's result for a new object. A check that depends on other objects cannot
// pass here, so the outcome of such a check has no object.
func created(s *store.Store, a apiKind, obj store.Object) (o outcome) {
	made, err := s.CreateObject(a.Resource, a.accept(obj), a.dryRun()...)
	switch {
	case err == nil:
		return outcome{object: a.present(made), warnings: warned(a.Resource, made, nil)}
	case apierrors.IsInvalid(err), apierrors.IsInternalError(err):
		return outcome{mistakes: mistakes(err)}
	}
	return outcome{mistakes: mistakes(s.Validate(a.Resource, a.accept(obj)))}
}

// updated returns csisim's result for a change of an object, or of its status.
func updated(s *store.Store, a apiKind, obj, old store.Object, status bool) outcome {
	write := s.UpdateObject
	if status {
		write = s.UpdateStatusObject
	}
	made, err := write(a.Resource, a.accept(obj.DeepCopyObject().(store.Object)), a.dryRun()...)
	switch {
	case err != nil:
		return outcome{mistakes: mistakes(err)}
	case status:
		return outcome{object: a.present(made)}
	}
	return outcome{object: a.present(made), warnings: warned(a.Resource, made, a.accept(old))}
}

func warned(res *store.Resource, obj, old store.Object) []string {
	if warnings := kind.Of(res).Warnings; warnings != nil {
		return warnings(obj, old)
	}
	return nil
}

// mistakes returns the causes of an error, in order; nil for none.
func mistakes(err error) []string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &status) || status.Status().Details == nil || !apierrors.IsInvalid(err):
		return []string{err.Error()}
	}
	var all []string
	for _, c := range status.Status().Details.Causes {
		all = append(all, fmt.Sprintf("%s: %s: %s", c.Field, c.Type, c.Message))
	}
	return all
}
