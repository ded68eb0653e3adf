package oracle

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// admitUpdate lets the admission plugin Priority set the priority of a pod that an update omits.
func admitUpdate(ctx context.Context, pod *api.Pod, old runtime.Object) error {
	return priority.NewPlugin().Admit(ctx, admission.NewAttributesRecord(pod, old, api.SchemeGroupVersion.WithKind("Pod"),
		pod.Namespace, pod.Name, api.SchemeGroupVersion.WithResource("pods"), "", admission.Update, &metav1.UpdateOptions{}, false, nil), nil)
}
