package apiserver

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"runtime/debug"
)

// errPanicked is that a request made a library fail that should not. Others must not
// suffer for it: least of all the simulation, in whose name clients use the store.
var errPanicked = errors.New("the request caused a panic")

// panicked is what the real server says then.
const panicked = "This request caused apiserver to panic. Look in the logs for details."

// guarded runs a part of a request's work and turns a panic into its failure.
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
