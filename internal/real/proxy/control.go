package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
)

// TokenHeader carries the token. It is not Authorization, because the API server between client and
// proxy consumes that header.
const TokenHeader = "X-Csisim-Token"

// serveControl serves records and fault injection.
func (p *Proxy) serveControl(failed chan<- error) (stop func() error, err error) {
	if p.options.Address == "" {
		return func() error { return nil }, nil
	}
	listener, err := net.Listen("tcp", p.options.Address)
	if err != nil {
		return func() error { return nil }, fmt.Errorf("listen for readers of the records: %w", err)
	}
	server := &http.Server{Handler: p.control(), ReadHeaderTimeout: time.Minute}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve the records: %w", err)
		}
	}()
	return server.Close, nil
}

// control returns the HTTP interface: records, faults, and starting and ending the driver.
func (p *Proxy) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /records", p.serveRecords)
	mux.HandleFunc("DELETE /records", p.discardRecords)
	mux.HandleFunc("POST /faults", p.injectFault)
	mux.HandleFunc("DELETE /faults", p.clearFaults)
	mux.HandleFunc("POST /killed", func(http.ResponseWriter, *http.Request) { p.orders.done() })
	serveLife(mux, func() life { return p.program }, func(order string) {
		p.forget()
		if order != "start" {
			p.driverGone(order == "stop")
		}
	})
	return Bearing(p.options.Token, mux)
}

// serveRecords writes the records after the first ?skip=, and with ?follow=true also later ones.
func (p *Proxy) serveRecords(w http.ResponseWriter, r *http.Request) {
	skip, _ := strconv.Atoi(r.FormValue("skip"))
	var stop <-chan struct{}
	if r.FormValue("follow") == "true" {
		stop = r.Context().Done()
	}
	w.Header().Set("Content-Type", "application/jsonl")
	// The reader may have disconnected.
	_ = p.records.follow(w, func() { _ = http.NewResponseController(w).Flush() }, skip, stop)
}

// discardRecords removes the records and their directory at the end of a run.
func (p *Proxy) discardRecords(w http.ResponseWriter, _ *http.Request) {
	if err := os.RemoveAll(p.options.Records); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (p *Proxy) injectFault(w http.ResponseWriter, r *http.Request) {
	var f fault.Fault
	if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
		http.Error(w, "read the fault: "+err.Error(), http.StatusBadRequest)
		return
	}
	if why := effect.Never(&f); why != "" {
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	if f.Effect == fault.Kill && f.Victim == fault.Driver && p.program == nil {
		http.Error(w, notEnded, http.StatusConflict)
		return
	}
	p.do(func() { p.wire.Faults.Inject(&f) })
}

func (p *Proxy) clearFaults(_ http.ResponseWriter, r *http.Request) {
	p.do(func() { p.wire.Faults.Clear(r.FormValue("name")) })
}

// forget drops the connection to a driver that was ended.
func (p *Proxy) forget() {
	p.do(func() { p.wire.Forget(p.machine, p.options.Upstream) })
}

// do calls a function between two steps of the kernel.
func (p *Proxy) do(what func()) {
	done := make(chan struct{})
	p.world.Kernel.Post(func() {
		defer close(done)
		what()
	})
	<-done
}

// notEnded is the error of a proxy that has to stop a driver without having its program.
const notEnded = "the proxy can end the driver only if it has started it or has --listening"
