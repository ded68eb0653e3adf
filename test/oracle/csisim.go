package oracle

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

func newStore() *store.Store {
	return kind.NewStore(store.Options{UID: func(string) types.UID { return uid }}, kind.NoServiceAccounts)
}

// created is what csisim answers to a new object. What other objects would have to be there for is not
// asked: then the outcome has no object.
func created(s *store.Store, res *store.Resource, obj store.Object) (o outcome) {
	made, err := s.CreateObject(res, obj, store.DryRun())
	switch {
	case err == nil:
		return outcome{object: made, warnings: warned(res, made, nil)}
	case apierrors.IsInvalid(err), apierrors.IsInternalError(err):
		return outcome{mistakes: mistakes(err)}
	}
	return outcome{mistakes: mistakes(s.Validate(res, obj))}
}

// updated is what csisim answers to a change of an object, or of its status.
func updated(s *store.Store, res *store.Resource, obj, old store.Object, status bool) outcome {
	write := s.UpdateObject
	if status {
		write = s.UpdateStatusObject
	}
	made, err := write(res, obj.DeepCopyObject().(store.Object), store.DryRun())
	switch {
	case err != nil:
		return outcome{mistakes: mistakes(err)}
	case status:
		return outcome{object: made}
	}
	return outcome{object: made, warnings: warned(res, made, old)}
}

func warned(res *store.Resource, obj, old store.Object) []string {
	if warnings := kind.Of(res).Warnings; warnings != nil {
		return warnings(obj, old)
	}
	return nil
}

// mistakes are the causes of an error, in order; nil for none.
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
