package kind

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// lifecycle checks the hooks of a container.
func lifecycle(at *field.Path, l *corev1.Lifecycle, spec *corev1.PodSpec) (errs field.ErrorList) {
	if l == nil {
		return nil
	}
	for _, of := range []struct {
		name    string
		handler *corev1.LifecycleHandler
	}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
		if h := of.handler; h != nil {
			errs = append(errs, handler(at.Child(of.name), &corev1.ProbeHandler{Exec: h.Exec, HTTPGet: h.HTTPGet, TCPSocket: h.TCPSocket}, h.Sleep, spec.TerminationGracePeriodSeconds)...)
		}
	}
	return errs
}

// sleeps checks that the sleep of a hook is within the grace period.
func sleeps(at *field.Path, s *corev1.SleepAction, grace *int64) field.ErrorList {
	if grace == nil || s.Seconds >= 0 && s.Seconds <= *grace {
		return nil
	}
	return field.ErrorList{field.Invalid(at, s.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))}
}

func resizePolicy(at *field.Path, all []corev1.ContainerResizePolicy, pod corev1.RestartPolicy) (errs field.ErrorList) {
	var seen []corev1.ResourceName
	for i, p := range all {
		if slices.Contains(seen, p.ResourceName) {
			errs = append(errs, field.Duplicate(at.Index(i), p.ResourceName))
		}
		seen = append(seen, p.ResourceName)
		if p.ResourceName == "" {
			errs = append(errs, field.Required(at, ""))
		} else {
			errs = append(errs, oneOf(at, p.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)...)
		}
		if p.RestartPolicy == "" {
			errs = append(errs, field.Required(at, ""))
		} else {
			errs = append(errs, oneOf(at, p.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)...)
		}
		if pod == corev1.RestartPolicyNever && p.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(at, p.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}

// Limits of a container's restart rules.
const (
	mostRestartRules = 20
	mostExitCodes    = 255
)

// restartRules checks the restart policy of a container. The rules of an init container without a
// policy are not checked.
func restartRules(at *field.Path, c *corev1.Container, init bool) (errs field.ErrorList) {
	rules := at.Child("restartPolicyRules")
	switch {
	case c.RestartPolicy != nil:
		errs = append(errs, oneOf(at.Child("restartPolicy"), *c.RestartPolicy,
			corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	case len(c.RestartPolicyRules) > 0:
		errs = append(errs, field.Required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
		if init {
			return errs
		}
	}
	if n := len(c.RestartPolicyRules); n > mostRestartRules {
		errs = append(errs, field.TooMany(rules, n, mostRestartRules))
	}
	for i, rule := range c.RestartPolicyRules {
		at := rules.Index(i)
		errs = append(errs, oneOf(at.Child("action"), rule.Action, corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)...)
		if rule.ExitCodes == nil {
			errs = append(errs, field.Required(at.Child("exitCodes"), "must be specified"))
			continue
		}
		errs = append(errs, oneOf(at.Child("exitCodes", "operator"), rule.ExitCodes.Operator,
			corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
		if n := len(rule.ExitCodes.Values); n > mostExitCodes {
			errs = append(errs, field.TooMany(at.Child("exitCodes", "values"), n, mostExitCodes))
		}
	}
	return errs
}

// hostPortConflicts checks that each port of the node has one container.
func hostPortConflicts(all []corev1.Container, at *field.Path) (errs field.ErrorList) {
	var taken []string
	for i, c := range all {
		for j, p := range c.Ports {
			port := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
			switch {
			case p.HostPort == 0:
			case slices.Contains(taken, port):
				errs = append(errs, field.Duplicate(at.Index(i).Child("ports").Index(j).Child("hostPort"), port))
			default:
				taken = append(taken, port)
			}
		}
	}
	return errs
}
