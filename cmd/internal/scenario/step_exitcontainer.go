package scenario

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register("exit-container", "Ends a container like a process that exits. By the restart policy, the kubelet starts it again or ends the pod.",
		`exit-container: {pod: web, container: main, code: 1}`, &exitContainerStep{})
}

// exitContainerStep ends containers of pods.
type exitContainerStep struct {
	Pod       string   `json:"pod" want:"required" example:"web" doc:"The pod. * stands for any text: the step then affects all matching pods with running containers."`
	Namespace string   `json:"namespace,omitempty" default:"default" doc:"The pod's namespace."`
	Container string   `json:"container,omitempty" example:"main" doc:"The container, which must run; default the only one of the pod."`
	Code      exitCode `json:"code,omitempty" example:"1" doc:"Its exit code; default 0."`
}

func (s *exitContainerStep) pod() store.Key {
	return store.Key{Namespace: cmp.Or(s.Namespace, corev1.NamespaceDefault), Name: s.Pod}
}

func (s *exitContainerStep) check(c *checker) {
	if s.Pod != "" && !strings.Contains(s.Pod, "*") && !c.made.isGenerated("pods", s.pod()) {
		c.madeBefore("pod", "pods", s.pod())
	}
}

func (s *exitContainerStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	var found []store.Key
	for pod := range store.List[*corev1.Pod](r.store(), s.pod().Namespace) {
		if partial.Wildcard(s.Pod, pod.Name) && (pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodPending) {
			found = append(found, store.KeyOf(pod))
		}
	}
	if len(found) == 0 {
		return &Failure{
			Verdict: verdict.Plain(fmt.Sprintf("no container of pod %s runs", s.Pod)), Expected: "pod " + s.Pod + " with a container that runs", Got: "no such pod",
		}
	}
	for _, key := range found {
		if err := cluster.ExitContainer(key, s.Container, int(s.Code)); err != nil {
			return err
		}
	}
	return nil
}
