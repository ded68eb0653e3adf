package realcluster

import (
	"regexp"
	"strconv"
	"time"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/store"
)

// asked is a CRI request or answer in containerd's log.
type asked struct {
	at        time.Time
	method    string
	pod       store.Key // of the sandbox to run
	id        string    // id of the sandbox or container
	container string    // name of the container to create
	returned  string    // id of the created sandbox or container; empty in a request
}

// containerd's log lines of requests and answers. [containerd: internal/cri/instrument/service.go]
var (
	logLine     = lazyregexp.New(`^time="([^"]+)" level=info msg=("(?:[^"\\]|\\.)*")`)
	sandboxRuns = lazyregexp.New(`^RunPodSandbox for (.*?)(?: returns sandbox id "([^"]+)")?$`)
	isCreated   = lazyregexp.New(`^CreateContainer within sandbox "([^"]+)" for (?:container )?(.*?)(?: returns container id "([^"]+)")?$`)
	isAskedOf   = lazyregexp.New(`^(StartContainer|StopPodSandbox) for "([^"]+)"$`)
	isStopped   = lazyregexp.New(`^(StopContainer) for "([^"]+)" with timeout`)
	nameIn      = lazyregexp.New(`(?:^|[ {,])[Nn]ame:"?([^",} ]+)`)
	namespaceIn = lazyregexp.New(`(?:^|[ {,])[Nn]amespace:"?([^",} ]+)`)
)

// parseAsked parses a line of containerd's log. It returns false for any other line.
func parseAsked(line string) (a asked, ok bool) {
	parts := logLine().FindStringSubmatch(line)
	if parts == nil {
		return a, false
	}
	at, err := time.Parse(time.RFC3339Nano, parts[1])
	if err != nil {
		return a, false
	}
	message, err := strconv.Unquote(parts[2])
	if err != nil {
		return a, false
	}
	if m := sandboxRuns().FindStringSubmatch(message); m != nil {
		return asked{at: at, method: "RunPodSandbox", pod: store.Key{Namespace: first(namespaceIn(), m[1]), Name: first(nameIn(), m[1])}, returned: m[2]}, true
	}
	if m := isCreated().FindStringSubmatch(message); m != nil {
		return asked{at: at, method: "CreateContainer", id: m[1], container: first(nameIn(), m[2]), returned: m[3]}, true
	}
	for _, pattern := range []*regexp.Regexp{isAskedOf(), isStopped()} {
		if m := pattern.FindStringSubmatch(message); m != nil {
			return asked{at: at, method: m[1], id: m[2]}, true
		}
	}
	return a, false
}

// first returns the text of a pattern's first group; empty if it does not match.
func first(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
