package trace

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// names shortens ids and paths. Two ids never get the same short form.
type names struct {
	verbatim bool
	shortOf  map[string]string
	taken    map[string]bool
	pods     map[string]string // by uid: namespace/name

	longID      *regexp.Regexp // UUIDs and hashes
	kubeletPath *regexp.Regexp // paths below a kubelet's root directory
	podPath     *regexp.Regexp // paths that belong to a pod, and the pod's uid
}

// newNames compiles the patterns, so that programs without a timeline do not have to.
func newNames(verbatim bool) *names {
	return &names{
		verbatim: verbatim, shortOf: map[string]string{}, taken: map[string]bool{}, pods: map[string]string{},
		longID:      regexp.MustCompile(`\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,64})\b`),
		kubeletPath: regexp.MustCompile(`/var/lib/kubelet/[^\s"',;)\]]+|(?:/[\w.-]+)+/(?:plugins/kubernetes\.io|pods/[0-9a-f-]{36})/[^\s"',;)\]]+`),
		podPath:     regexp.MustCompile(`/pods/([0-9a-f-]{36})/|/volumeDevices/publish/[^/]+/([0-9a-f-]{36})$`),
	}
}

// shortestID is the minimum length of an id that is shortened.
const shortestID = 32

// in shortens every id and every long path of a text.
func (n *names) in(text string) string {
	if n.verbatim {
		return text
	}
	if strings.Contains(text, "/var/lib/kubelet/") || strings.Contains(text, "/plugins/kubernetes.io/") || strings.Contains(text, "/pods/") {
		text = n.kubeletPath.ReplaceAllStringFunc(text, func(p string) string { return shortPath(p, 2) })
	}
	if len(text) < shortestID {
		return text
	}
	return n.longID.ReplaceAllStringFunc(text, n.id)
}

// id returns the beginning of an id, long enough to differ from all others.
func (n *names) id(full string) string {
	if short, ok := n.shortOf[full]; ok {
		return short
	}
	short := full
	for length := 4; length < len(full); length += 2 {
		if short = full[:length] + "…"; !n.taken[short] {
			break
		}
	}
	n.shortOf[full], n.taken[short] = short, true
	return short
}

// cut returns the beginning of an unimportant text.
func (n *names) cut(text string) string {
	const longest = 80
	if n.verbatim || utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest-1]) + "…"
}

// shortPath keeps the last elements of a path.
func shortPath(full string, elements int) string {
	parts := strings.Split(strings.TrimPrefix(full, "/"), "/")
	if len(parts) <= elements+1 {
		return full
	}
	return "…/" + path.Join(parts[len(parts)-elements:]...)
}

// mountPoint shortens a path of a request to its last elements.
func (n *names) mountPoint(full string) string {
	if n.verbatim {
		return full
	}
	last := path.Base(full)
	if last == "globalmount" || last == "mount" {
		return "…/" + last
	}
	return n.in(shortPath(full, 2))
}

// podOf returns the name of the pod in a path; empty if it is unknown.
func (n *names) podOf(full string) string {
	found := n.podPath.FindStringSubmatch(full)
	if found == nil {
		return ""
	}
	return n.pods[found[1]+found[2]]
}

// driver shortens a driver's name to its first label.
func (n *names) driver(full string) string {
	label, rest, dotted := strings.Cut(full, ".")
	if n.verbatim || !dotted || len(rest) < 4 {
		return full
	}
	return label + "…"
}

// volume shortens a unique volume name: kubernetes.io/csi/mock.example.com^vol-1 is mock…^vol-1.
func (n *names) volume(unique string) string {
	if n.verbatim {
		return unique
	}
	driver, handle, ok := strings.Cut(strings.TrimPrefix(unique, "kubernetes.io/csi/"), "^")
	if !ok {
		return n.in(unique)
	}
	return n.driver(driver) + "^" + n.in(handle)
}

// kinds are short words for resources. All other resources lose their plural s.
var kinds = map[string]string{
	"persistentvolumeclaims": "pvc", "persistentvolumes": "pv", "volumeattachments": "attachment",
	"storageclasses": "storageclass", "volumesnapshots": "snapshot", "volumesnapshotcontents": "snapshotcontent",
	"volumesnapshotclasses": "snapshotclass", "volumeattributesclasses": "volumeattributesclass",
	"csistoragecapacities": "csistoragecapacity",
}

// object returns kind/name, without the default namespace.
func (n *names) object(resource, name string) string {
	kind, ok := kinds[resource]
	if !ok {
		kind = strings.TrimSuffix(resource, "s")
	}
	return kind + "/" + n.in(n.key(name))
}

// key returns namespace/name without the default namespace.
func (n *names) key(name string) string {
	if n.verbatim {
		return name
	}
	return strings.TrimPrefix(name, "default/")
}
