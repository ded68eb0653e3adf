package diff

import (
	"encoding/json"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// unknownUID replaces a uid of unknown origin.
const unknownUID = "<unknown uid>"

var (
	deadSocket   = lazyregexp.New(`connect: (no such file or directory|connection refused)`)
	deadlineText = lazyregexp.New(`context deadline exceeded|stream terminated by RST_STREAM with error code: CANCEL`)
	moment       = lazyregexp.New(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	provisioner  = lazyregexp.New(`\b\d{10,}-\d+-([a-z])`)
	instance     = lazyregexp.New(`_[A-Za-z0-9.-]+_` + unknownUID + `$`)
	token        = lazyregexp.New(`[A-Za-z0-9_-]+`)
	uid          = lazyregexp.New(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hash         = lazyregexp.New(`[0-9a-f]{64}`)
)

// in returns a text with roles instead of the names that this run generated.
func (n *identities) in(s string) string {
	s = moment().ReplaceAllString(s, "<time>")
	s = provisioner().ReplaceAllString(s, "<provisioner>-$1")
	return token().ReplaceAllStringFunc(s, func(word string) string {
		if role := n.role[word]; role != "" {
			return role
		}
		if len(word) < 36 {
			return word
		}
		word = uid().ReplaceAllStringFunc(word, func(id string) string { return n.roleOr(id, unknownUID) })
		return hash().ReplaceAllStringFunc(word, func(h string) string { return n.roleOr(h, h) })
	})
}

func (n *identities) roleOr(name, otherwise string) string {
	if role := n.role[name]; role != "" {
		return role
	}
	return otherwise
}

// source returns the component that emitted an event, without the instance of a sidecar.
func (n *identities) source(from string) string { return instance().ReplaceAllString(n.in(from), "") }

// dropped are fields that only hold the time or the origin of a write.
var dropped = map[string]Tolerance{
	"creationTimestamp":       Times,
	"lastPhaseTransitionTime": TransitionTime,
	"lastTransitionTime":      Times,
	"resourceVersion":         Revisions,
}

// local are labels with values that depend on the machine, or on parts of a pod's template that
// recordings omit.
var local = map[string]string{
	"topology.kubernetes.io/zone":   "<zone>",
	"topology.kubernetes.io/region": "<region>",
	"controller-revision-hash":      "<revision>",
}

// lostPower is the state of a container that ended with its node's power. The recorded runtime
// stopped its containers first.
const lostPower = "terminated Unknown"

// text returns a text with roles for names and one wording for deadlines.
func (s *side) text(original string) string {
	out := s.names.in(original)
	if out != original {
		s.normalised++
	}
	if deadlineText().MatchString(out) {
		s.allow(DeadlineText, "")
		out = deadlineText().ReplaceAllString(out, "<deadline>")
	}
	if deadSocket().MatchString(out) {
		s.allow(DeadSocket, "")
		out = deadSocket().ReplaceAllString(out, "connect: <nobody>")
	}
	return out
}

// normal returns a comparable value: names become roles, and times and revisions are removed.
func (s *side) normal(value any) any {
	switch v := value.(type) {
	case string:
		return s.text(v)
	case float64:
		if v > 1e15 {
			s.normalised++
			return "<time>"
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.normal(item)
		}
		return out
	case map[string]any:
		return s.normalFields(v)
	default:
		return v
	}
}

func (s *side) normalFields(fields map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range sortedKeys(fields) {
		if why, ok := dropped[key]; ok {
			s.allow(why, key)
			continue
		}
		if s.records && (key == "acquireTime" || key == "renewTime") {
			s.allow(Times, key)
			continue
		}
		if s.records && (key == "generation" || key == "deletionGracePeriodSeconds") {
			s.allow(NotCompared, key)
			continue
		}
		if s.mixed && key == "restarts" {
			s.allow(NotCompared, key)
			continue
		}
		if s.mixed && key == "container" && fields[key] == lostPower {
			s.allow(NotCompared, key)
			out[key] = "terminated"
			continue
		}
		if stand, ok := local[key]; ok && fields[key] != nil {
			out[key] = stand
			continue
		}
		value := s.normal(fields[key])
		if key == "persistentVolumeClaimsRefList" {
			value = s.sorted(value)
		}
		if inner, ok := value.(map[string]any); ok && s.records && len(inner) == 0 && key == "metadata" {
			continue // it had a generation
		}
		out[s.healthOf(s.names.in(key))] = value
	}
	return out
}

// canonical returns a value as text, the same for equal values.
func canonical(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "not JSON: " + err.Error()
	}
	return strings.TrimSpace(out.String())
}
