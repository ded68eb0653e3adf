package fakekubelet

import (
	"cmp"
	"strings"
)

// longestHostname is the length to which the kubelet cuts the names of pods.
const longestHostname = 63

// hostname returns the host name of the pod. In the host's network, it is the node's name. Programs
// that elect a leader distinguish themselves by it.
func (w *podWorker) hostname() string {
	spec := &w.pod.Spec
	switch {
	case spec.HostNetwork:
		return w.options.Name
	case spec.HostnameOverride != nil:
		return *spec.HostnameOverride
	}
	name := cmp.Or(spec.Hostname, w.pod.Name)
	if len(name) <= longestHostname {
		return name
	}
	return strings.TrimRight(name[:longestHostname], "-.")
}

// hosts returns the pod's /etc/hosts.
func (w *podWorker) hosts() string {
	text := "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n" +
		"fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n" +
		w.address() + "\t" + w.hostname() + "\n"
	if w.pod.Spec.HostNetwork {
		of, _ := w.options.Machine.ReadFile("/etc/hosts") // a machine may lack the file
		text = "# Kubernetes-managed hosts file (host network).\n" + string(of)
	}
	if len(w.pod.Spec.HostAliases) > 0 {
		text += "\n# Entries added by HostAliases.\n"
	}
	for _, alias := range w.pod.Spec.HostAliases {
		text += alias.IP + "\t" + strings.Join(alias.Hostnames, "\t") + "\n"
	}
	return text
}
