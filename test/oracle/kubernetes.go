// Package oracle compares csisim's treatment of objects with that of Kubernetes' own code:
// mistakes, defaults, permitted changes, warnings, columns and field selectors.
package oracle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"

	"github.com/csisim/csisim/internal/world/store"
)

// An API server is started with --allow-privileged, as kubeadm does.
func init() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	klog.SetLogger(logr.Discard())
	persistentvolume.NowFunc = func() metav1.Time { return metav1.NewTime(store.Epoch) }
}

const uid = types.UID("00000000-0000-0000-0000-000000000001")

// outcome is the result of a write in an API server.
type outcome struct {
	object   runtime.Object // nil if it is rejected
	mistakes []string       // the reasons for the rejection, in order
	warnings []string
	panicked bool // Kubernetes' result is not intended and does not count
}

// is reports whether two outcomes are equal.
func (o outcome) is(other outcome) bool {
	return slices.Equal(o.mistakes, other.mistakes) && slices.Equal(o.warnings, other.warnings) && equality.Semantic.DeepEqual(o.object, other.object)
}

func (o outcome) String() string {
	said := append(slices.Clone(o.mistakes), o.warnings...)
	if o.object != nil {
		said = append(said, slices.Sorted(slices.Values(fieldsOf(o.object)))...)
	}
	return strings.Join(said, "\n\t       ")
}

// defaulted returns the object with the defaults of its kind.
func defaulted(obj runtime.Object) runtime.Object {
	obj = obj.DeepCopyObject()
	legacyscheme.Scheme.Default(obj)
	return obj
}

// internalOf returns the object in Kubernetes' internal version.
func internalOf(obj runtime.Object) (runtime.Object, error) {
	group := obj.GetObjectKind().GroupVersionKind().Group
	return legacyscheme.Scheme.ConvertToVersion(obj, schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal})
}

// stored returns the object with its defaults, converted to the internal version and back.
func stored(obj runtime.Object) (runtime.Object, error) {
	internal, err := internalOf(defaulted(obj))
	if err != nil {
		return nil, err
	}
	return legacyscheme.Scheme.ConvertToVersion(internal, obj.GetObjectKind().GroupVersionKind().GroupVersion())
}

// create returns Kubernetes' result for a new object, for rules that depend only on the object's
// own fields.
func create(obj runtime.Object) outcome {
	internal, err := internalOf(defaulted(obj))
	if err != nil {
		return outcome{mistakes: []string{fmt.Sprintf("convert to the internal version: %v", err)}}
	}
	m, err := meta.Accessor(internal)
	if err != nil {
		return outcome{mistakes: []string{err.Error()}}
	}
	m.SetUID(uid)
	m.SetCreationTimestamp(metav1.NewTime(store.Epoch))
	return write(obj, m, internal, "create", func(ctx context.Context) error {
		if err := begin(ctx, internal, nil); err != nil {
			return err
		}
		return rest.BeforeCreate(servedOf(obj).strategy, ctx, internal)
	})
}

// update returns Kubernetes' result for a change of an object. With the strategy of the status, it
// returns the result for a change of the status.
func update(strategy rest.RESTUpdateStrategy, obj, old runtime.Object) outcome {
	was, err := internalOf(old)
	if err != nil {
		return outcome{mistakes: []string{err.Error()}}
	}
	internal, err := internalOf(defaulted(obj))
	if err != nil {
		return outcome{mistakes: []string{fmt.Sprintf("convert to the internal version: %v", err)}}
	}
	m, err := meta.Accessor(internal)
	if err != nil {
		return outcome{mistakes: []string{err.Error()}}
	}
	return write(obj, m, internal, "update", func(ctx context.Context) error {
		if strategy == servedOf(obj).strategy {
			if err := begin(ctx, internal, was); err != nil {
				return err
			}
		}
		return rest.BeforeUpdate(strategy, ctx, internal, was)
	})
}

// write runs the checks that precede the write of internal. internal was converted from obj.
func write(obj runtime.Object, m metav1.Object, internal runtime.Object, verb string, before func(context.Context) error) (o outcome) {
	defer func() {
		if recover() != nil {
			o = outcome{panicked: true}
		}
	}()
	gvk := obj.GetObjectKind().GroupVersionKind()
	ctx := genericapirequest.WithNamespace(genericapirequest.NewContext(), m.GetNamespace())
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{APIGroup: gvk.Group, APIVersion: gvk.Version, Verb: verb})
	ctx = warning.WithWarningRecorder(ctx, &o)
	if o.mistakes = mistakes(before(ctx)); o.mistakes != nil {
		return outcome{mistakes: o.mistakes}
	}
	made, err := legacyscheme.Scheme.ConvertToVersion(internal, gvk.GroupVersion())
	if err != nil {
		return outcome{mistakes: []string{err.Error()}}
	}
	o.object = defaulted(made) // in the form in which it is read back
	return o
}

// AddWarning implements warning.Recorder.
func (o *outcome) AddWarning(_, text string) { o.warnings = append(o.warnings, text) }
