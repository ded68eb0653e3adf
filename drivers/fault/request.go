package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Request selects HTTP requests of a driver's program to its service during a call.
type Request struct {
	// Pattern is a method and a path, such as "DELETE /volumes/*", in which * matches any letters
	// within an element. A single * matches every path, as in "DELETE *", or every request. Empty:
	// none.
	Pattern string
	// Nth is the number of the request in the CSI call, from 1; 0 means each request.
	Nth int
}

func (r Request) String() string {
	text := strings.TrimSuffix("request "+r.Pattern, " *")
	if r.Nth > 1 {
		text += fmt.Sprintf(" %d", r.Nth)
	}
	return text
}

// The failures of requests that are not status codes.
const (
	// Reset: the service executes the request, and resets the connection instead of answering.
	Reset = "reset"
	// Slow: the service executes the request, and answers after the caller of the CSI call has
	// given up.
	Slow = "slow"
	// Stale: a list is returned in its state before the last creation or deletion.
	Stale = "stale"
)

const statusPrefix = "HTTP "

// requestStatuses are the possible status codes of failing requests.
var requestStatuses = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// RequestFailures lists the possible failures of requests: "HTTP 404", "reset".
func RequestFailures() []string {
	var all []string
	for _, status := range requestStatuses {
		all = append(all, statusPrefix+strconv.Itoa(status))
	}
	return append(all, Reset, Slow, Stale)
}

// IsRequestFailure reports whether a failure is a failure of requests.
func IsRequestFailure(fails string) bool { return slices.Contains(RequestFailures(), fails) }

// Status returns the HTTP status of failing requests; 0 if they fail without one.
func (f *Fault) Status() int {
	number, is := strings.CutPrefix(f.Fails, statusPrefix)
	if !is {
		return 0
	}
	status, _ := strconv.Atoi(number) // the number is one of the listed statuses
	return status
}
