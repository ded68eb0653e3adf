package effect

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/world/kernel"
)

// failRequestFields are the fields of faults that make requests to a service fail, in addition to
// fails and nth.
type failRequestFields struct {
	Request string `json:"request,omitempty" example:"DELETE /volumes/*" doc:"With fails: the HTTP requests of the driver program to the stand-in that fail, as a method and a path; * stands for any letters within an element, in place of the path for any path, and alone for every request. reset: the service executes the request and resets the connection. slow: the service executes the request and answers one minute after the caller of the CSI call has given up. stale: a list of a collection with staleLists lacks the newest object, and still has the one that was deleted last. HTTP 404 of a DELETE, and HTTP 409 of a POST to a collection with unique, mean that the request was executed before: the service then executes it. With other statuses nothing is executed."`
}

// failRequest: a request of the driver's program to a stand-in for its service fails.
var failRequest = &Effect{
	Name:  fault.FailRequest,
	Field: "fails",
	Given: func(f *Fields) bool { return f.Fails != "" && f.Request != "" },
	Check: checkRequest,
	Read: func(f *Fields, into *fault.Fault) {
		into.Fails, into.Request = f.Fails, fault.Request{Pattern: f.Request, Nth: int(f.Nth)}
	},
	InSearches: func(kind fault.Kind, c Called) []fault.Fault {
		if kind != fault.Services || !c.Served {
			return nil
		}
		return failingRequests()
	},
	Never:    unseen,
	InWords:  func(f *fault.Fault) string { return fmt.Sprintf("%s of the driver failed, %s", f.Request, f.Fails) },
	Disturbs: always,
	Do:       doFailRequest,
}

func doFailRequest(c Call, f *fault.Fault) error {
	if c.Service() == nil {
		f.SetHits(0)
		return c.PassShown()
	}
	watch := standin.NewWatch(standin.Interference{
		Pattern: f.Request.Pattern, Nth: f.Request.Nth, Times: f.Left(), Status: f.Status(),
		Reset: f.Fails == fault.Reset, Slow: f.Fails == fault.Slow, Stale: f.Fails == fault.Stale,
	})
	c.WatchRequests(watch)
	if f.Fails == fault.Slow {
		return c.TakeTime(func(p *kernel.Process, into proto.Message) error { return deliverSlowly(c, p, f, watch, into) })
	}
	defer func() {
		failed := failedOf(watch)
		f.SetHits(failed)
		if failed > 0 {
			c.Disturbed(f)
		}
	}()
	return c.Pass(c.Answer())
}

func failedOf(watch *standin.Watch) (failed int) {
	for _, r := range watch.Seen() {
		if r.Failed {
			failed++
		}
	}
	return failed
}

// deliverSlowly gives the call to the driver. One of the driver's HTTP requests is answered only
// after the caller has given up and called again.
func deliverSlowly(c Call, p *kernel.Process, f *fault.Fault, watch *standin.Watch, into proto.Message) error {
	defer watch.End()
	c.Wrap(heldAt(watch.Reached))
	err := c.Deliver(p, into)
	if !errors.Is(err, ErrHeld) {
		f.SetHits(0)
		return err
	}
	c.Struck(f)
	defer c.StandsStill()()
	p.Sleep(c.Deadline() - p.Elapsed() + stallTime)
	watch.End()
	return c.Deliver(p, into)
}

// mostRequests bounds the requests of a call that can fail in a search.
const mostRequests = 2

// failingRequests returns the faults of the requests that a driver makes in a call.
func failingRequests() (all []fault.Fault) {
	for n := 1; n <= mostRequests; n++ {
		for _, one := range []struct{ pattern, fails string }{
			{"*", "HTTP 500"}, {"*", "HTTP 429"}, {"DELETE *", "HTTP 404"}, {"POST *", "HTTP 409"}, {"DELETE *", "HTTP 409"},
			{"*", fault.Reset}, {"*", fault.Slow}, {"GET *", fault.Stale},
		} {
			at := fault.Request{Pattern: one.pattern, Nth: n}
			name := fmt.Sprintf("its service fails, %s: %s", at, one.fails)
			all = append(all, fault.Fault{Name: name, Effect: fault.FailRequest, Request: at, Fails: one.fails, Times: 1})
		}
	}
	return all
}

// checkRequest reports an unknown failure of requests, and requests without a stand-in.
func checkRequest(f *Fields, _ string, c Checker) {
	if f.Request == "" {
		return
	}
	if f.Fails == "" {
		c.Report("request", "request without fails", "fails: HTTP 500, or another failure, beside it")
	}
	c.Known("fails", "failure of requests", f.Fails, fault.RequestFailures())
	if f.Syscall != "" || f.Path != "" {
		c.Report("request", "request with syscall or path", "one of them: a fault is about requests or about system calls")
	}
	if method, of, _ := strings.Cut(f.Request, " "); f.Request != "*" {
		_, err := path.Match(of, "")
		if method != strings.ToUpper(method) || of != "*" && !strings.HasPrefix(of, "/") || err != nil {
			c.Report("request", fmt.Sprintf("request %q", f.Request), `a method and a path, such as "DELETE /volumes/*", or *`)
		}
	}
	if !c.HasServices() {
		c.Report("request", "a request without a stand-in for an HTTP service", "a driver with standIns: {http: …} in its profile or program")
	}
}
