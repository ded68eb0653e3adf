package apiserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

func (q *request) delete() error {
	options, err := q.deleteOptions()
	if err != nil {
		return err
	}
	if err := q.isDeletable(); err != nil {
		return err
	}
	opts := q.deletion(options)
	var last store.Object
	gone := false
	err = q.exclusively(func() (err error) {
		if err := q.mayDelete(q.key()); err != nil {
			return err
		}
		last, err = q.server.store.DeleteObject(q.kind.res, q.key(), opts...)
		_, stays := q.server.store.GetObject(q.kind.res, q.key())
		gone = !stays || len(options.DryRun) > 0 && err == nil && !heldBack(last)
		return err
	})
	if err != nil {
		return err
	}
	if gone && !q.kind.answersDeleted {
		return q.writeObject(http.StatusOK, q.succeeded(last))
	}
	code := http.StatusOK
	if orphan := orphanDependents(options); !gone && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	return q.writeObject(code, last)
}

func (q *request) isDeletable() error {
	k := kind.Of(q.kind.res)
	if !slices.Contains(k.Undeletable, q.info.name) {
		return nil
	}
	because := cmp.Or(k.UndeletableBecause, fmt.Sprintf("this %s may not be deleted", q.kind.singular))
	return apierrors.NewForbidden(q.kind.gvr.GroupResource(), q.info.name, errors.New(because))
}

// heldBack reports whether finalizers or a grace period keep a deleted object from being removed.
func heldBack(obj store.Object) bool {
	grace := obj.GetDeletionGracePeriodSeconds()
	if namespace, ok := obj.(*corev1.Namespace); ok && len(namespace.Spec.Finalizers) > 0 {
		return true
	}
	return len(obj.GetFinalizers()) > 0 || grace != nil && *grace > 0
}

// deleteOptions reads the options from the body, or from the query if there is no body.
func (q *request) deleteOptions() (*metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	body, err := q.readBody()
	switch {
	case err != nil:
		return nil, err
	case len(body) == 0:
		err = q.readOptions(&o)
	default:
		err = q.decodeDeleteOptions(body, &o)
	}
	if err != nil {
		return nil, err
	}
	return &o, invalidOptions("DeleteOptions", validation.ValidateDeleteOptions(&o))
}

// decodeDeleteOptions decodes the options without the scheme. They may have the version of the
// resource, which may have no Go type.
func (q *request) decodeDeleteOptions(body []byte, o *metav1.DeleteOptions) error {
	info, err := q.bodySerializer()
	if err != nil {
		return err
	}
	switch info.MediaType {
	case typeProtobuf:
		var envelope runtime.Unknown
		if !bytes.HasPrefix(body, protobufMagic) {
			return badRequest("the body is not of the form that the content type %s has", typeProtobuf)
		}
		if err := envelope.Unmarshal(body[len(protobufMagic):]); err != nil {
			return badRequest("decoding DeleteOptions: %v", err)
		}
		o.TypeMeta = metav1.TypeMeta{Kind: envelope.Kind, APIVersion: envelope.APIVersion}
		if err := checkDeleteOptions(o); err != nil {
			return err
		}
		if err := o.Unmarshal(envelope.Raw); err != nil {
			return badRequest("decoding DeleteOptions: %v", err)
		}
		return nil
	case typeYAML:
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return badRequest("decoding DeleteOptions: %v", err)
		}
	}
	if err := json.Unmarshal(body, &o.TypeMeta); err != nil {
		return badRequest("couldn't get version/kind; json parse error: %v", err)
	}
	if err := checkDeleteOptions(o); err != nil {
		return err
	}
	if err := json.Unmarshal(body, o); err != nil {
		return badRequest("decoding DeleteOptions: %v", err)
	}
	return nil
}

// checkDeleteOptions rejects a body of another kind.
func checkDeleteOptions(o *metav1.DeleteOptions) error {
	if o.Kind == "" || o.Kind == "DeleteOptions" {
		return nil
	}
	return badRequest("%v", runtime.NewNotRegisteredErrForKind(metascheme.Scheme.Name(), o.GroupVersionKind()))
}

// protobufMagic begins every object in protobuf.
var protobufMagic = []byte{'k', '8', 's', 0}

// orphanDependents returns the predecessor of the propagation policy.
func orphanDependents(o *metav1.DeleteOptions) *bool {
	//lint:ignore SA1019 clients may still send it
	return o.OrphanDependents
}

// hasPolicy reports whether the object already has a finalizer of the garbage collector.
func (q *request) hasPolicy() bool {
	obj, ok := q.server.store.GetObject(q.kind.res, q.key())
	return ok && (slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents) || slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents))
}

// deletion returns the store's options.
func (q *request) deletion(o *metav1.DeleteOptions) []store.DeleteOption {
	var opts []store.DeleteOption
	if o.GracePeriodSeconds != nil {
		opts = append(opts, store.GracePeriod(*o.GracePeriodSeconds))
	}
	if p := o.Preconditions; p != nil {
		if p.UID != nil {
			opts = append(opts, store.PreconditionUID(*p.UID))
		}
		if p.ResourceVersion != nil {
			opts = append(opts, store.PreconditionVersion(*p.ResourceVersion))
		}
	}
	switch {
	case o.PropagationPolicy != nil:
		opts = append(opts, store.Propagation(*o.PropagationPolicy))
	case orphanDependents(o) != nil && *orphanDependents(o):
		opts = append(opts, store.Propagation(metav1.DeletePropagationOrphan))
	case orphanDependents(o) == nil && kind.Of(q.kind.res).OrphansDependents && q.info.subresource == "" && !q.hasPolicy():
		opts = append(opts, store.Propagation(metav1.DeletePropagationOrphan))
	}
	if len(o.DryRun) > 0 {
		opts = append(opts, store.DryRunOfDelete())
	}
	return opts
}

// deleteCollection deletes the objects that a list would show, and answers with that list.
func (q *request) deleteCollection() error {
	options, err := q.deleteOptions()
	if err != nil {
		return err
	}
	opts := q.deletion(options)
	list, err := q.listOptions()
	if err != nil {
		return err
	}
	page, err := q.pageOf(list)
	if err != nil {
		return err
	}
	var found []store.Object
	var listMeta metav1.ListMeta
	err = q.exclusively(func() error {
		if found, listMeta, err = q.page(list, page); err != nil {
			return err
		}
		for _, obj := range found {
			if err := q.mayDelete(store.KeyOf(obj)); err != nil {
				return err
			}
			_, err := q.server.store.DeleteObject(q.kind.res, store.KeyOf(obj), opts...)
			if err != nil && !apierrors.IsNotFound(err) { // another removal may have included it
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return q.writeList(found, listMeta)
}
