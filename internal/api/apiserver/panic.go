package apiserver

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"runtime/debug"
)

// errPanicked means that a request has caused a panic in a library. This must not affect other
// clients or the simulation, which owns the store.
var errPanicked = errors.New("the request caused a panic")

// panicked is the real server's message.
const panicked = "This request caused apiserver to panic. Look in the logs for details."

// guarded runs a part of a request's work and turns a panic into an error.
func (q *request) guarded(work func() error) (err error) {
	defer func() {
		what := recover()
		switch {
		case what == nil:
		case what == http.ErrAbortHandler:
			panic(what)
		default:
			log.Printf("%s %s: panic: %v\n%s", q.Method, q.URL.Path, what, debug.Stack())
			err = errPanicked
		}
	}()
	return work()
}

// panicked answers in plain text, as the real server does.
func (a *answer) panicked() {
	a.body(http.StatusInternalServerError, "text/plain; charset=utf-8", fmt.Appendln(nil, panicked))
}
