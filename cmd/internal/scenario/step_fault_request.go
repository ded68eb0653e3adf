package scenario

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
)

// checkRequest reports an unknown failure of requests, and requests without a stand-in.
func (s *faultStep) checkRequest(c *checker) {
	if s.Fails == "" {
		c.report("request", "request without fails", "fails: HTTP 500, or another failure, beside it")
	}
	c.knownAs("fails", "failure of requests", s.Fails, fault.RequestFailures())
	if s.Syscall != "" || s.Path != "" {
		c.report("request", "request with syscall or path", "one of them: a fault is about requests or about system calls")
	}
	if method, of, _ := strings.Cut(s.Request, " "); s.Request != "*" {
		_, err := path.Match(of, "")
		if method != strings.ToUpper(method) || of != "*" && !strings.HasPrefix(of, "/") || err != nil {
			c.report("request", fmt.Sprintf("request %q", s.Request), `a method and a path, such as "DELETE /volumes/*", or *`)
		}
	}
	if !slices.ContainsFunc(c.scenario.Drivers, func(d Driver) bool { return d.standIns().HTTP != nil }) {
		c.report("request", "a request without a stand-in for an HTTP service", "a driver with standIns: {http: …} in its profile or program")
	}
}
