package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Request is which of the HTTP requests that a driver's program makes of its service in a call a
// fault is about.
type Request struct {
	// Pattern is a method and a path, such as "DELETE /volumes/*": * stands for any letters within
	// an element, alone for every path, as in "DELETE *", or every request. Empty: the fault is
	// about none.
	Pattern string
	// Nth is how many of them in the CSI call it is, from 1; 0 is each.
	Nth int
}

func (r Request) String() string {
	text := strings.TrimSuffix("request "+r.Pattern, " *")
	if r.Nth > 1 {
		text += fmt.Sprintf(" %d", r.Nth)
	}
	return text
}

// The failures of requests that are no status codes.
const (
	// Reset: the service carries out the request, and resets the connection instead of answering.
	Reset = "reset"
	// Slow: the service carries out the request, and answers after the caller of the CSI call has
	// given up.
	Slow = "slow"
	// Stale: a list is answered as it was before something was made or deleted last.
	Stale = "stale"
)

const statusPrefix = "HTTP "

// requestStatuses are the status codes with which requests can be made to fail.
var requestStatuses = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// RequestFailures lists how requests can be made to fail: "HTTP 404", "reset".
func RequestFailures() []string {
	var all []string
	for _, status := range requestStatuses {
		all = append(all, statusPrefix+strconv.Itoa(status))
	}
	return append(all, Reset, Slow, Stale)
}

// IsRequestFailure reports whether a failure is one of requests.
func IsRequestFailure(fails string) bool { return slices.Contains(RequestFailures(), fails) }

// Status is the HTTP status with which requests fail; 0 if they fail otherwise.
func (f *Fault) Status() int {
	number, is := strings.CutPrefix(f.Fails, statusPrefix)
	if !is {
		return 0
	}
	status, _ := strconv.Atoi(number) // it is one of those above
	return status
}

// mostRequests is how many of the requests of a call can fail in a search.
const mostRequests = 2

// failingRequests are the faults of the requests that a driver makes in a call.
func failingRequests(c Called) (all []Fault) {
	if !c.Served {
		return nil
	}
	for n := 1; n <= mostRequests; n++ {
		for _, one := range []struct{ pattern, fails string }{
			{"*", "HTTP 500"}, {"*", "HTTP 429"}, {"DELETE *", "HTTP 404"}, {"POST *", "HTTP 409"}, {"DELETE *", "HTTP 409"},
			{"*", Reset}, {"*", Slow}, {"GET *", Stale},
		} {
			at := Request{Pattern: one.pattern, Nth: n}
			name := fmt.Sprintf("its service fails, %s: %s", at, one.fails)
			all = append(all, Fault{Name: name, Effect: FailRequest, Request: at, Fails: one.fails, Times: 1})
		}
	}
	return all
}
