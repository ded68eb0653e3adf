package realcluster

import (
	"regexp"
	"strconv"
	"time"
)

// asked is a request of the CRI, or its answer, in containerd's log.
type asked struct {
	at        time.Time
	method    string
	pod       string // NAMESPACE/NAME of the sandbox that is to run
	id        string // of the sandbox or container that it is about
	container string // name of the container that is to be made
	returned  string // id of what was made; empty of a request
}

// What containerd logs of requests and answers. [containerd: internal/cri/instrument/service.go]
var (
	logLine     = regexp.MustCompile(`^time="([^"]+)" level=info msg=("(?:[^"\\]|\\.)*")`)
	sandboxRuns = regexp.MustCompile(`^RunPodSandbox for (.*?)(?: returns sandbox id "([^"]+)")?$`)
	isCreated   = regexp.MustCompile(`^CreateContainer within sandbox "([^"]+)" for (?:container )?(.*?)(?: returns container id "([^"]+)")?$`)
	isAskedOf   = regexp.MustCompile(`^(StartContainer|StopPodSandbox) for "([^"]+)"$`)
	isStopped   = regexp.MustCompile(`^(StopContainer) for "([^"]+)" with timeout`)
	nameIn      = regexp.MustCompile(`(?:^|[ {,])[Nn]ame:"?([^",} ]+)`)
	namespaceIn = regexp.MustCompile(`(?:^|[ {,])[Nn]amespace:"?([^",} ]+)`)
)

// parseAsked reads a line of containerd's log; false if it is about something else.
func parseAsked(line string) (a asked, ok bool) {
	parts := logLine.FindStringSubmatch(line)
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
	if m := sandboxRuns.FindStringSubmatch(message); m != nil {
		return asked{at: at, method: "RunPodSandbox", pod: first(namespaceIn, m[1]) + "/" + first(nameIn, m[1]), returned: m[2]}, true
	}
	if m := isCreated.FindStringSubmatch(message); m != nil {
		return asked{at: at, method: "CreateContainer", id: m[1], container: first(nameIn, m[2]), returned: m[3]}, true
	}
	for _, pattern := range []*regexp.Regexp{isAskedOf, isStopped} {
		if m := pattern.FindStringSubmatch(message); m != nil {
			return asked{at: at, method: m[1], id: m[2]}, true
		}
	}
	return a, false
}

func first(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
