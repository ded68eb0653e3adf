package kind

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// ScaleKind is the kind of the scale subresource.
var ScaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// ScaleColumns are the columns of the table of a scale subresource.
// [k8s.io/kubernetes/pkg/printers/internalversion scaleColumnDefinitions]
var ScaleColumns = []Column{
	text("Name", func(s *autoscalingv1.Scale) string { return s.Name }),
	show("Desired", "integer", func(s *autoscalingv1.Scale) any { return int64(s.Spec.Replicas) }),
	show("Available", "integer", func(s *autoscalingv1.Scale) any { return int64(s.Status.Replicas) }),
	ageColumn,
}

// Scale is the scale subresource of a kind with replicas.
type Scale struct {
	// Show sets the wanted and current replicas of an object, and their selector.
	Show func(obj store.Object, scale *autoscalingv1.Scale)
	// Set changes an object's number of replicas.
	Set func(obj store.Object, n int32)
}

// replicasOf returns the replicas of an object of type T.
type replicasOf[T store.Object] func(obj T) (wanted **int32, has int32, selector string)

// scaleOf makes the subresource of a Go type.
func scaleOf[T store.Object](replicas replicasOf[T]) *Scale {
	return &Scale{
		Show: func(obj store.Object, scale *autoscalingv1.Scale) {
			wanted, has, selector := replicas(typed[T](obj))
			if *wanted != nil {
				scale.Spec.Replicas = **wanted
			}
			scale.Status = autoscalingv1.ScaleStatus{Replicas: has, Selector: selector}
		},
		Set: func(obj store.Object, n int32) {
			wanted, _, _ := replicas(typed[T](obj))
			*wanted = &n
		},
	}
}

func selectorText(selector *metav1.LabelSelector) string { return metav1.FormatLabelSelector(selector) }
