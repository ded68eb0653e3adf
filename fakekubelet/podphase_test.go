package fakekubelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// The states of a container in the table.
var (
	runs    = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waits   = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
	done    = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	failed  = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	crashed = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}, Terminated: nil}
)

func statusOf(state corev1.ContainerState) corev1.ContainerStatus {
	status := corev1.ContainerStatus{State: state, Started: new(state.Running != nil)}
	if state.Waiting != nil && state.Waiting.Reason != "" {
		status.LastTerminationState = failed
	}
	return status
}

// kubelet: getPhase, with the cases of TestPodPhaseWithRestartAlways…, …RestartableInitContainers.
func TestThePhaseOfAPod(t *testing.T) {
	const (
		always    = corev1.RestartPolicyAlways
		onFailure = corev1.RestartPolicyOnFailure
		never     = corev1.RestartPolicyNever
	)
	starting := statusOf(runs)
	starting.Started = new(false)
	type states = []corev1.ContainerStatus
	for name, tt := range map[string]struct {
		policy      corev1.RestartPolicy
		init        states // init containers; the first one works once
		sidecar     states
		main        states
		over, begun bool
		want        corev1.PodPhase
	}{
		"an init container runs":               {policy: always, init: states{statusOf(runs)}, main: states{statusOf(waits)}, want: corev1.PodPending},
		"an init container failed for good":    {policy: never, init: states{statusOf(failed)}, main: states{statusOf(waits)}, want: corev1.PodFailed},
		"a failed init container is restarted": {policy: always, init: states{statusOf(crashed)}, main: states{statusOf(waits)}, want: corev1.PodPending},
		"a sidecar has not started":            {policy: always, sidecar: states{starting}, main: states{statusOf(waits)}, want: corev1.PodPending},
		"a sidecar runs, the others wait":      {policy: always, sidecar: states{statusOf(runs)}, main: states{statusOf(waits)}, want: corev1.PodPending},
		"all run":                              {policy: always, sidecar: states{statusOf(runs)}, main: states{statusOf(runs)}, begun: true, want: corev1.PodRunning},
		"a sidecar starts again":               {policy: always, sidecar: states{starting}, main: states{statusOf(runs)}, begun: true, want: corev1.PodRunning},
		"a sidecar crashes":                    {policy: always, sidecar: states{statusOf(crashed)}, main: states{statusOf(runs)}, begun: true, want: corev1.PodRunning},
		"a sidecar outlives the work":          {policy: never, sidecar: states{statusOf(runs)}, main: states{statusOf(done)}, begun: true, want: corev1.PodRunning},
		"the sidecar has ended, too":           {policy: never, sidecar: states{statusOf(failed)}, main: states{statusOf(done)}, begun: true, want: corev1.PodSucceeded},
		"the work has failed":                  {policy: never, sidecar: states{statusOf(done)}, main: states{statusOf(failed)}, begun: true, want: corev1.PodFailed},
		"one of two has failed":                {policy: never, main: states{statusOf(done), statusOf(failed)}, begun: true, want: corev1.PodFailed},
		"it will be tried again":               {policy: onFailure, main: states{statusOf(crashed)}, begun: true, want: corev1.PodRunning},
		"work that is done is not":             {policy: onFailure, main: states{statusOf(done)}, begun: true, want: corev1.PodSucceeded},
		"all ended, by their pod's deletion":   {policy: always, sidecar: states{statusOf(done)}, main: states{statusOf(done)}, over: true, begun: true, want: corev1.PodSucceeded},
		"ended by force":                       {policy: always, main: states{statusOf(failed)}, over: true, begun: true, want: corev1.PodFailed},
		"deleted before it ran":                {policy: always, main: states{statusOf(waits)}, over: true, want: corev1.PodFailed},
	} {
		spec := &corev1.PodSpec{RestartPolicy: tt.policy}
		for range tt.init {
			spec.InitContainers = append(spec.InitContainers, corev1.Container{})
		}
		for range tt.sidecar {
			spec.InitContainers = append(spec.InitContainers, corev1.Container{RestartPolicy: new(corev1.ContainerRestartPolicyAlways)})
		}
		for range tt.main {
			spec.Containers = append(spec.Containers, corev1.Container{})
		}
		status := &corev1.PodStatus{InitContainerStatuses: append(tt.init, tt.sidecar...), ContainerStatuses: tt.main}
		assert.Equal(t, tt.want, phaseOf(spec, status, tt.over, tt.begun), name)
	}
}

// kubelet: ContainerShouldRestart.
func TestTheRestartsOfContainers(t *testing.T) {
	rule := func(operator corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) []corev1.ContainerRestartRule {
		return []corev1.ContainerRestartRule{{
			Action: corev1.ContainerRestartRuleActionRestart, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: operator, Values: codes},
		}}
	}
	own := func(p corev1.ContainerRestartPolicy) *corev1.ContainerRestartPolicy { return &p }
	const in, notIn = corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn
	for name, tt := range map[string]struct {
		container corev1.Container
		pod       corev1.RestartPolicy
		init      bool
		code      int32
		want      bool
	}{
		"the pod's policy":                   {pod: corev1.RestartPolicyAlways, want: true},
		"its own goes first":                 {corev1.Container{RestartPolicy: own(corev1.ContainerRestartPolicyNever)}, corev1.RestartPolicyAlways, false, 1, false},
		"its own, which asks for a failure":  {corev1.Container{RestartPolicy: own(corev1.ContainerRestartPolicyOnFailure)}, corev1.RestartPolicyNever, false, 1, true},
		"a rule goes before its policy":      {corev1.Container{RestartPolicy: own(corev1.ContainerRestartPolicyNever), RestartPolicyRules: rule(in, 42)}, corev1.RestartPolicyNever, false, 42, true},
		"a rule of other codes":              {corev1.Container{RestartPolicy: own(corev1.ContainerRestartPolicyNever), RestartPolicyRules: rule(in, 42)}, corev1.RestartPolicyNever, false, 1, false},
		"a rule of all other codes":          {corev1.Container{RestartPolicy: own(corev1.ContainerRestartPolicyNever), RestartPolicyRules: rule(notIn, 42)}, corev1.RestartPolicyNever, false, 1, true},
		"a sidecar always":                   {corev1.Container{RestartPolicy: own(corev1.ContainerRestartPolicyAlways)}, corev1.RestartPolicyNever, true, 0, true},
		"an init container that failed":      {pod: corev1.RestartPolicyAlways, init: true, code: 1, want: true},
		"no init container that has done it": {pod: corev1.RestartPolicyAlways, init: true},
	} {
		assert.Equal(t, tt.want, restartsAfter(&tt.container, &corev1.PodSpec{RestartPolicy: tt.pod}, tt.init, tt.code), name)
	}
}
