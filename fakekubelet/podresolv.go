package fakekubelet

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/machine"
)

// resolvConf returns the pod's resolv.conf; empty if it has none.
func (w *podWorker) resolvConf() string {
	text, _ := w.options.Machine.ReadFile("/etc/resolv.conf") // a machine may lack the file
	if w.options.ClusterDNS == "" {
		return string(text)
	}
	return resolvConfOf(w.pod, w.options.ClusterDNS, string(text)).String()
}

// resolvConfOf returns the configuration of a pod in a cluster with a name server, on a node with
// other name servers. (kubernetes v1.36.3, pkg/kubelet/network/dns/dns.go GetPodDNS)
func resolvConfOf(pod *corev1.Pod, server, ofNode string) resolvConf {
	spec := &pod.Spec
	of := parseResolvConf(ofNode)
	for i, known := range of.servers {
		if at, err := netip.ParseAddr(known); err == nil && at.IsLoopback() {
			of.servers[i] = server // it queries the node's loopback
		}
	}
	switch policy := spec.DNSPolicy; {
	case policy == corev1.DNSNone:
		of = resolvConf{}
	case policy == corev1.DNSClusterFirstWithHostNet, policy == corev1.DNSClusterFirst && !spec.HostNetwork:
		service := "svc." + address.Domain
		of = resolvConf{
			servers: []string{server},
			search:  slices.Concat([]string{pod.Namespace + "." + service, service, address.Domain}, of.search),
			options: []string{"ndots:5"},
		}
	}
	if spec.DNSConfig != nil {
		of.add(spec.DNSConfig)
	}
	return of
}

// resolvConf holds the content of a resolv.conf.
type resolvConf struct{ servers, search, options []string }

func parseResolvConf(text string) (r resolvConf) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "nameserver":
			r.servers = append(r.servers, words[1])
		case "search": // the last one counts
			r.search = slices.DeleteFunc(words[1:], func(domain string) bool { return domain == "." })
		case "options":
			r.options = append(r.options, words[1:]...)
		}
	}
	return r
}

// add adds the settings of the pod; an option replaces the option with the same name.
func (r *resolvConf) add(c *corev1.PodDNSConfig) {
	r.servers = distinct(append(r.servers, c.Nameservers...))
	r.search = distinct(append(r.search, c.Searches...))
	for _, o := range c.Options {
		option := o.Name
		if o.Value != nil {
			option += ":" + *o.Value
		}
		same := func(other string) bool {
			name, _, _ := strings.Cut(other, ":")
			return name == o.Name
		}
		r.options = append(slices.DeleteFunc(r.options, same), option)
	}
}

// distinct leaves out repeated entries.
func distinct(all []string) (once []string) {
	for _, one := range all {
		if !slices.Contains(once, one) {
			once = append(once, one)
		}
	}
	return once
}

// String returns the text of the file.
func (r resolvConf) String() string {
	var text strings.Builder
	if len(r.search) > 0 {
		text.WriteString("search " + strings.Join(r.search, " ") + "\n")
	}
	for _, server := range r.servers {
		text.WriteString("nameserver " + server + "\n")
	}
	if len(r.options) > 0 {
		text.WriteString("options " + strings.Join(r.options, " ") + "\n")
	}
	return text.String()
}

// showResolvConf shows the pod's resolv.conf to a container that uses the node's files.
func (c *container) showResolvConf() (machine.Volume, error) {
	const file = "/etc/resolv.conf"
	source := c.filesDir(".resolv.conf")
	if err := c.options.Machine.MkdirAll(path.Dir(source), 0o755); err != nil {
		return machine.Volume{}, err
	}
	if err := c.options.Machine.WriteFile(source, []byte(c.resolvConf()), 0o644); err != nil {
		return machine.Volume{}, err
	}
	return machine.Volume{Source: source, Path: file, Private: true, Optional: true}, nil
}
