// Package unfinished keeps the work that drivers have announced and not yet finished, for example a
// snapshot that is not ready, or a job during which the driver answers ABORTED. Drivers run by the
// real clock, and a virtual clock that jumps to the next retry leaves them no time. Therefore the
// virtual clock moves no faster than the real one until the work is finished, or until a limit.
package unfinished

import (
	"context"
	"slices"
	"time"
)

// Default is the default limit of the wall time that virtual time waits for one piece of work.
const Default = 30 * time.Second

// Work is the unfinished work of the drivers of one run. Only the kernel's goroutine uses it.
type Work struct {
	limit      time.Duration
	experience *Experience
	now        func() time.Duration // virtual time since the run began
	pieces     []*piece
	programs   programs
	waits      []Wait
}

// piece is one piece of work.
type piece struct {
	driver, key, kind string
	virtual           time.Duration // when it was announced last
	real              time.Time     // the same in wall time
	first             time.Time     // when it was announced first
	given             bool          // it gets no more time
	waited            bool
}

// experienced returns the key of the work in an Experience, which may cover several drivers.
func (p *piece) experienced() string { return p.driver + " " + p.kind }

// New returns an empty Work. limit bounds the wall time for a piece of work; 0 or less means no
// wait. Experience may be shared with other runs; nil if it is not.
func New(limit time.Duration, experience *Experience, now func() time.Duration) *Work {
	if experience == nil {
		experience = &Experience{}
	}
	return &Work{limit: limit, experience: experience, now: now}
}

// Limit bounds the wall time for which the clock may be held for a piece of work.
func (w *Work) Limit() time.Duration { return w.limit }

// Waits returns the waits of the run, in the order in which they began. Short ones are left out.
func (w *Work) Waits() []Wait { return worthMentioning(w.waits) }

// Announce records a piece of work of a driver, or that the work is not finished yet. The key
// distinguishes it from other work.
func (w *Work) Announce(driver, key, kind string) {
	if w.limit <= 0 {
		return
	}
	p := w.piece(key)
	if p == nil {
		p = &piece{driver: driver, key: key, kind: kind, first: time.Now()}
		w.pieces = append(w.pieces, p)
	}
	p.virtual, p.real = w.now(), time.Now()
}

// Finish removes a piece of work. It may never have been announced.
func (w *Work) Finish(key string) {
	p := w.piece(key)
	if p == nil {
		return
	}
	if p.waited && !p.given {
		w.experience.finished(p.experienced(), time.Since(p.first))
	}
	w.pieces = slices.DeleteFunc(w.pieces, func(other *piece) bool { return other == p })
}

// Pending reports whether a piece of work is announced and may still get time.
func (w *Work) Pending(key string) bool {
	p := w.piece(key)
	return p != nil && !w.hasHadItsTime(p)
}

// Waited accounts for wall time that passed for a piece of work while virtual time stopped for
// another reason.
func (w *Work) Waited(key string, took time.Duration) {
	if p := w.piece(key); p != nil {
		p.waited = true
		w.account(p.kind, took)
	}
}

func (w *Work) piece(key string) *piece {
	for _, p := range w.pieces {
		if p.key == key {
			return p
		}
	}
	return nil
}

// Hold blocks while the time to which the virtual clock moves is ahead of the real clock, or while
// programs work. It is kernel.Options.Hold.
func (w *Work) Hold(to time.Duration, wake <-chan struct{}) bool {
	if w.programs.mayWork(w.now()) && w.awaitPrograms(wake) {
		return true
	}
	p, wait := w.slowest(to)
	if p == nil {
		return false
	}
	p.waited = true
	w.pass(p.kind, wait, wake)
	return true
}

// Await waits for some wall time until work of a kind that needs no virtual event is done.
func (w *Work) Await(ctx context.Context, kind string, done func() bool) {
	began, pause := time.Now(), firstAwaited
	for ctx.Err() == nil && time.Since(began) < w.experience.limit(kind, w.limit) {
		w.pass(kind, pause, ctx.Done())
		if done() {
			w.experience.finished(kind, time.Since(began))
			return
		}
		pause = min(2*pause, longestAwaited)
	}
	if w.limit > 0 && ctx.Err() == nil {
		w.experience.inVain(kind)
	}
}

// The first and the longest pause between two checks whether the work is done.
const (
	firstAwaited   = 5 * time.Millisecond
	longestAwaited = 100 * time.Millisecond
)

// slowest returns the piece of work that holds the clock longest, and the duration; nil if none
// holds it.
func (w *Work) slowest(to time.Duration) (slowest *piece, longest time.Duration) {
	for _, p := range w.pieces {
		if w.hasHadItsTime(p) {
			continue
		}
		left := w.experience.limit(p.experienced(), w.limit) - time.Since(p.first)
		if wait := min(min(to-p.virtual, p.stretch())-time.Since(p.real), left); wait > longest {
			slowest, longest = p, wait
		}
	}
	return slowest, longest
}

// shortestStretch is the least wall time that work gets before a later retry.
const shortestStretch = 3 * time.Second

// stretch bounds how long the clock is held until the next retry, which may follow after minutes of
// virtual time. Work gets at least twice the time that it has taken so far.
func (p *piece) stretch() time.Duration { return max(shortestStretch, 2*p.real.Sub(p.first)) }

// hasHadItsTime reports whether the time for a piece of work is over.
func (w *Work) hasHadItsTime(p *piece) bool {
	if !p.given && time.Since(p.first) >= w.experience.limit(p.experienced(), w.limit) {
		p.given = true
		w.experience.inVain(p.experienced())
	}
	return p.given
}

// pass waits for some wall time, or until an arrival wakes it, and accounts for the wait.
func (w *Work) pass(kind string, wait time.Duration, wake <-chan struct{}) {
	began := time.Now()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case <-wake:
	case <-timeout.C:
	}
	w.account(kind, time.Since(began))
}

func (w *Work) account(kind string, took time.Duration) {
	w.waits = add(w.waits, Wait{For: kind, Took: took})
	w.experience.waited(Wait{For: kind, Took: took})
}
