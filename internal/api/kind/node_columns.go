package kind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var nodeColumns = []Column{
	nameColumn,
	text("Status", nodeStatus),
	text("Roles", nodeRoles),
	ageColumn,
	text("Version", func(n *corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }),
	wide(text("Internal-IP", func(n *corev1.Node) string { return nodeAddress(n, corev1.NodeInternalIP) })),
	wide(text("External-IP", func(n *corev1.Node) string { return nodeAddress(n, corev1.NodeExternalIP) })),
	wide(text("OS-Image", func(n *corev1.Node) string { return cmp.Or(n.Status.NodeInfo.OSImage, "<unknown>") })),
	wide(text("Kernel-Version", func(n *corev1.Node) string {
		info := n.Status.NodeInfo
		kernel := cmp.Or(info.KernelVersion, "<unknown>")
		if info.Architecture != "" {
			return fmt.Sprintf("%s (%s)", kernel, info.Architecture)
		}
		return kernel
	})),
	wide(text("Container-Runtime", func(n *corev1.Node) string {
		return cmp.Or(n.Status.NodeInfo.ContainerRuntimeVersion, "<unknown>")
	})),
}

func nodeStatus(n *corev1.Node) string {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		if status = "NotReady"; c.Status == corev1.ConditionTrue {
			status = "Ready"
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(n *corev1.Node) string {
	const prefix, role = "node-role.kubernetes.io/", "kubernetes.io/role"
	var roles []string
	for label, value := range n.Labels { // any order: they are sorted
		if name, ok := strings.CutPrefix(label, prefix); ok && name != "" {
			roles = append(roles, name)
		} else if label == role && value != "" {
			roles = append(roles, value)
		}
	}
	slices.Sort(roles)
	if roles = slices.Compact(roles); len(roles) == 0 {
		return "<none>"
	}
	return strings.Join(roles, ",")
}

func nodeAddress(n *corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind {
			return a.Address
		}
	}
	return "<none>"
}
