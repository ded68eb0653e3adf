package lines

import (
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// Source is a file with lines: on disk, in an archive, or standard input.
type Source struct {
	// Name is the path for the user; within an archive it is "archive.tar.gz:path".
	Name string
	// Changed is the modification time of the file. No line is younger.
	Changed time.Time
	// Place is the place of the lines, if the path of the file reveals it.
	Place
}

// Place names the program of a log, if it is known.
type Place struct{ Node, Namespace, Pod, Container, Program string }

// forms are the layouts of paths: of the kubelet (/var/log/pods and /var/log/containers), of
// must-gather, of kubectl cluster-info dump, and of nodes in must-gather and sosreport.
var forms = []func() *regexp.Regexp{
	lazyregexp.New(`(?:^|/)pods/(?P<namespace>[a-z0-9-]+)_(?P<pod>[a-z0-9.-]+)_[a-f0-9-]{32,36}/(?P<container>[a-z0-9-]+)/\d+\.log[^/]*$`),
	lazyregexp.New(`(?:^|/)(?P<pod>[a-z0-9.-]+)_(?P<namespace>[a-z0-9-]+)_(?P<container>[a-z0-9-]+)-[a-f0-9]{64}\.log$`),
	lazyregexp.New(`(?:^|/)namespaces/(?P<namespace>[a-z0-9-]+)/pods/(?P<pod>[a-z0-9.-]+)/(?P<container>[a-z0-9-]+)/[a-z0-9-]+/logs/[a-z.-]+\.log$`),
	lazyregexp.New(`(?:^|/)(?P<namespace>[a-z0-9-]+)/(?P<pod>[a-z0-9.-]+)/logs\.txt$`),
	lazyregexp.New(`(?:^|/)nodes/(?P<node>[a-z0-9.-]+)/`),
	lazyregexp.New(`(?:^|/)host_service_logs/(?:masters|workers)/(?P<program>kubelet|crio)_service\.log$`),
	lazyregexp.New(`(?:^|/)sosreport-(?P<node>[a-z0-9.]+)[a-z0-9.-]*-\d{4}-\d{2}-\d{2}-[a-z]+/`),
}

// placeOf returns the place that a path names.
func placeOf(name string) (p Place) {
	name = path.Clean(strings.ReplaceAll(name, "\\", "/"))
	for _, form := range forms {
		found := form().FindStringSubmatch(name)
		if found == nil {
			continue
		}
		for i, field := range form().SubexpNames() {
			p.set(field, found[i])
		}
	}
	return p
}

func (p *Place) set(field, value string) {
	to := map[string]*string{
		"node": &p.Node, "namespace": &p.Namespace, "pod": &p.Pod, "container": &p.Container, "program": &p.Program,
	}[field]
	if to != nil && *to == "" {
		*to = value
	}
}
