package check

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/trace"
)

// service is the group of trials with failures of the service behind a driver.
const service = "service"

// request is the nth HTTP request that a driver makes in a call of a volume's life.
type request struct {
	method, route string // "DELETE", "/volumes/*"
	nth           int
}

// failures lists the failures that the request can have at a correct service. Such a service
// reports the state of its objects truthfully.
func (r request) failures() []string {
	all := []string{"HTTP 500", "HTTP 429"}
	switch r.method {
	case http.MethodGet:
		return all
	case http.MethodDelete:
		all = append(all, "HTTP 404")
	}
	return append(all, "HTTP 409", fault.Reset, fault.Slow)
}

// words describes the request and its failure in a sentence.
func (r request) words(fails string) string {
	of := r.method + " " + r.route
	switch fails {
	case fault.Reset:
		return of + " is carried out, and the connection is reset before the answer"
	case fault.Slow:
		return of + " is carried out, and answered when the caller of the call has given up"
	}
	return of + " is answered with " + fails
}

// failingService lets each HTTP request of the driver to its service fail once in each possible
// way.
func failingService(p *plan) {
	if len(p.facts.Requests) == 0 {
		return // the driver has no stand-in for its service
	}
	for _, e := range p.effects() {
		requests := p.facts.Requests[e.call]
		if len(requests) == 0 {
			continue
		}
		parts := failuresAt(e, requests)
		description := fmt.Sprintf("Each request that the driver makes of its service in %s fails once, in each way.", e.call)
		p.tryEach(service, e.call, description, []string{e.missing}, parts, func(s *script) {
			for _, part := range parts {
				part.compose(s)
			}
		})
	}
	p.staleLists()
}

// failuresAt are the failures of the requests of a CSI call, each with a life of a volume.
func failuresAt(e effect, requests []request) (all []part) {
	for _, r := range requests[:min(len(requests), mostPoints)] {
		for _, fails := range r.failures() {
			name := fmt.Sprintf("%s-%d", strings.ToLower(strings.TrimPrefix(fails, "HTTP ")), r.nth)
			all = append(all, part{name, fmt.Sprintf("In %s %s.", e.call, r.words(fails)), func(s *script) {
				s.fault(`name: %s, call: %s, request: "*", nth: %d, fails: %s, times: 1`, name, e.call, r.nth, fails)
				s.lifeWith(e)
				s.step("clear-fault: %s", name)
			}})
		}
	}
	return all
}

// staleLists omits the newest volume from lists when CreateVolume is repeated and when DeleteVolume
// is called. A service with consistent lists never does that.
func (p *plan) staleLists() {
	life := func(s *script, faults ...string) {
		for _, f := range faults {
			s.fault("%s", f)
		}
		s.life([]claim{data}, web(nodeA, data))
		s.step("clear-fault: all")
	}
	parts := []part{
		{"CreateVolume", "The answer to CreateVolume is lost, and a list of the next call lacks the volume.", func(s *script) {
			life(s, "name: lost, call: CreateVolume, loseAnswer: true, times: 1", `name: stale, call: CreateVolume, request: "*", fails: stale, times: 1`)
		}},
		{"DeleteVolume", "A list of DeleteVolume lacks the volume.", func(s *script) {
			life(s, `name: stale, call: DeleteVolume, request: "*", fails: stale, times: 1`)
		}},
	}
	p.tryEach(service, "stale-lists", "Lists lack the volume that was made last.", []string{p.effects()[0].missing}, parts, func(s *script) {
		for _, part := range parts {
			part.compose(s)
		}
	})
}

// learnRequests records the requests of the driver in calls for the volume of a claim. For each
// method, it takes the call with the most requests.
func (f *Facts) learnRequests(r *scenario.Result, claim string) {
	f.Requests = map[string][]request{}
	methods, made := map[uint64]string{}, map[uint64][]request{}
	for _, e := range r.Trace {
		if e.Kind == trace.Call && r.Names.Volume(e) == claim {
			methods[e.Seq] = path.Base(e.Method)
		}
		if e.Kind != trace.Request || methods[e.Cause] == "" {
			continue
		}
		of := slices.Clip(made[e.Cause])
		made[e.Cause] = append(of, request{e.Method, e.Resource, len(of) + 1})
		if method := methods[e.Cause]; len(made[e.Cause]) > len(f.Requests[method]) {
			f.Requests[method] = made[e.Cause]
		}
	}
}
