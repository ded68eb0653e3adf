package workload

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// recorded is the content of a ControllerRevision: a strategic merge patch that restores the
// template of a workload. [pkg/controller/daemon/update.go getPatch,
// pkg/controller/statefulset/stateful_set_utils.go getPatch]
type recorded struct {
	Spec struct {
		Template replacement `json:"template"`
	} `json:"spec"`
}

type replacement struct {
	Directive string `json:"$patch"`
	corev1.PodTemplateSpec
}

// Record returns a template as the content of a ControllerRevision.
func Record(template corev1.PodTemplateSpec) ([]byte, error) {
	var r recorded
	r.Spec.Template = replacement{"replace", template}
	return json.Marshal(r)
}

// Recorded returns the template in a ControllerRevision.
func Recorded(rev *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var r recorded
	if err := json.Unmarshal(rev.Data.Raw, &r); err != nil {
		return nil, fmt.Errorf("revision %s: %w", rev.Name, err)
	}
	return &r.Spec.Template.PodTemplateSpec, nil
}
