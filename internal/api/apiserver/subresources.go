package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// verbOf is the verb of a method on one object.
var verbOf = map[string]string{
	http.MethodGet: "get", http.MethodHead: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

func (q *request) serveSubresource() error {
	sub, _ := q.kind.subresource(q.info.subresource)
	if !slices.Contains(sub.Verbs, verbOf[q.Method]) {
		return errMethodNotAllowed
	}
	switch q.Method {
	case http.MethodPut:
		return q.serveSub(sub.Name)
	case http.MethodPost:
		if err := q.checkNewNamespace(); err != nil {
			return err
		}
	}
	return q.named(func() error { return q.serveSub(sub.Name) })
}

func (q *request) serveSub(name string) error {
	switch name {
	case "binding":
		return q.bind()
	case "eviction":
		return q.evict()
	case "token":
		return q.issueToken()
	case "log":
		return q.log()
	case "exec":
		return q.exec()
	case "attach":
		return q.attach()
	case "portforward":
		return q.forward()
	case "finalize":
		return q.finalize()
	case proxySubresource:
		return q.proxy()
	case "scale":
		return q.serveScale()
	}
	what := part(name)
	if name != "status" {
		what = mainPart // resize and ephemeralcontainers write the spec
	}
	switch q.Method {
	case http.MethodPut:
		return q.update(what)
	case http.MethodPatch:
		return q.patch(what)
	}
	return q.get()
}

// readNew reads the options and the body of a create request for another kind than the kind of its
// path.
func (q *request) readNew(into store.Object, wanted schema.GroupVersionKind) (writeOptions, error) {
	options, err := q.createOptions()
	if err != nil {
		return options, err
	}
	if err := q.readAs(into, wanted, options.fieldValidation); err != nil {
		return options, err
	}
	return options, q.settleNamespace(into)
}

// readAs reads a body of a subresource's own kind, in any of its versions.
func (q *request) readAs(into runtime.Object, wanted schema.GroupVersionKind, validation string) error {
	info, err := q.bodySerializer()
	if err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	serializer := info.Serializer
	if validation != metav1.FieldValidationIgnore && info.StrictSerializer != nil {
		serializer = info.StrictSerializer
	}
	read, gvk, err := serializer.Decode(body, &wanted, into)
	k := &servedKind{gvk: wanted}
	switch err = q.tolerate(validation, read, err); {
	case err != nil:
		return k.decodeError(err, gvk, body)
	case gvk.Kind != wanted.Kind:
		return badRequest("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, wanted.Kind, k.unknownConversion(gvk))
	case read == into:
		return nil
	}
	text, err := json.Marshal(read) // another version of the same kind
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// bindingsOf returns the path of bindings that name their pod themselves.
func bindingsOf(namespace string) requestInfo {
	return requestInfo{apiVersion: "v1", namespace: namespace, resource: "bindings"}
}

func (q *request) bindNamed() error {
	if q.Method != http.MethodPost || q.info.namespace == "" {
		return errMethodNotAllowed
	}
	return q.bind()
}

// bind assigns a pod to a node, as schedulers do.
func (q *request) bind() error {
	var binding corev1.Binding
	options, err := q.readNew(&binding, corev1.SchemeGroupVersion.WithKind("Binding"))
	if err != nil {
		return err
	}
	if err := q.checkNewNamespace(); err != nil {
		return err
	}
	key := store.Key{Namespace: q.info.namespace, Name: binding.Name}
	if q.info.name != "" && q.info.name != binding.Name {
		return badRequest("name in URL does not match name in Binding object")
	}
	if errs := checkTarget(&binding.Target); len(errs) > 0 {
		return errs.ToAggregate()
	}
	err = q.exclusively(func() error {
		if err := q.admit(admissionv1.Create, binding.Name, &binding, nil); err != nil {
			return err
		}
		_, err := kind.BindPod(q.server.store, kind.Binding{
			Pod: key, Node: binding.Target.Name, UID: binding.UID, ResourceVersion: binding.ResourceVersion,
			Annotations: binding.Annotations, Labels: binding.Labels, DryRun: options.dryRun,
		})
		return err
	})
	if err != nil {
		return err
	}
	return q.answer.encoded(http.StatusCreated, successful(http.StatusCreated))
}

func checkTarget(target *corev1.ObjectReference) (errs field.ErrorList) {
	if target.Kind != "" && target.Kind != "Node" {
		errs = append(errs, field.NotSupported(field.NewPath("target", "kind"), target.Kind, []string{"Node", "<empty>"}))
	}
	if target.Name == "" {
		errs = append(errs, field.Required(field.NewPath("target", "name"), ""))
	}
	return errs
}

func successful(code int32) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: code}
}

// evict deletes a pod if its disruption budget permits that.
func (q *request) evict() error {
	var eviction policyv1.Eviction
	asked, err := q.readNew(&eviction, policyv1.SchemeGroupVersion.WithKind("Eviction"))
	if err != nil {
		return err
	}
	if eviction.Name != q.info.name {
		return badRequest("name in URL does not match name in Eviction object")
	}
	options := &metav1.DeleteOptions{}
	if eviction.DeleteOptions != nil {
		options = eviction.DeleteOptions
	}
	if err := propagateDryRun(asked.dryRun, options); err != nil {
		return err
	}
	opts := q.deletion(options)
	err = q.exclusively(func() error {
		if err := q.admit(admissionv1.Create, eviction.Name, &eviction, nil); err != nil {
			return err
		}
		// Preconditions and dry run apply to the deletion.
		if _, err := q.server.store.DeleteObject(q.kind.res, q.key(), append(opts, store.DryRunOfDelete())...); err != nil {
			return err
		}
		pod, _ := store.Get[*corev1.Pod](q.server.store, q.key()) // the dry run has found it
		if err := kind.AllowEviction(q.server.store, pod, len(options.DryRun) > 0); err != nil || len(options.DryRun) > 0 {
			return err
		}
		if _, err := store.ModifyStatus(q.server.store, q.key(), q.markEvicted); err != nil {
			return err
		}
		_, err := q.server.store.DeleteObject(q.kind.res, q.key(), opts...)
		return err
	})
	if err != nil {
		return err
	}
	return q.answer.encoded(http.StatusCreated, successful(http.StatusCreated))
}

// propagateDryRun makes an eviction a dry run if its query requests that.
// [pkg/registry/core/pod/storage/eviction.go propagateDryRun]
func propagateDryRun(asked bool, options *metav1.DeleteOptions) error {
	switch all := []string{metav1.DryRunAll}; {
	case !asked || slices.Equal(options.DryRun, all):
	case len(options.DryRun) == 0:
		options.DryRun = all
	default:
		//lint:ignore ST1005 these are the words of the API server
		return fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", all, options.DryRun)
	}
	return nil
}

// markEvicted sets the reason of the eviction in a pod's status.
func (q *request) markEvicted(pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		LastTransitionTime: metav1.NewTime(q.server.options.Now()).Rfc3339Copy(),
	})
}

// finalize replaces the finalizers of a namespace's spec.
func (q *request) finalize() error {
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
	var stored *corev1.Namespace
	err = q.exclusively(func() (err error) {
		stored, err = kind.FinalizeNamespace(q.server.store, obj.(*corev1.Namespace), options.dryRun)
		return err
	})
	if err != nil {
		return err
	}
	return q.writeObject(http.StatusOK, stored)
}
