package main

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"

	_ "embed"
)

//go:embed page.html
var pageText []byte

// pageCookie bears the token.
const pageCookie = "csisim-token"

// page shows a live cluster in a browser: over plain HTTP, on loopback, where browsers
// have nothing to warn of. Its token opens the page and nothing else. Who brings it in
// the address gets it as a cookie; without it nothing is shown.
type page struct {
	token, host string // host is the address and port at which it is
	look        *lookout
}

// listenForPage opens a port of the page's own.
func listenForPage() (net.Listener, *page, error) {
	token, err := newToken()
	if err != nil {
		return nil, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, &failure{code: exitEnvironment, err: fmt.Errorf("listening for browsers: %w", err)}
	}
	return listener, &page{token: token, host: listener.Addr().String()}, nil
}

// address is what a browser is to open.
func (p *page) address() string { return "http://" + p.host + "/?token=" + p.token }

// handler serves the page to those who ask for it by its address: a name that somebody
// else lets lead to loopback is refused.
func (p *page) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.show)
	mux.HandleFunc("GET /state", p.state)
	_, port, _ := net.SplitHostPort(p.host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != p.host && r.Host != "localhost:"+port {
			http.Error(w, "open the address that csisim up printed", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (p *page) show(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get("token"); token != "" && p.bears(token) {
		http.SetCookie(w, &http.Cookie{
			Name: pageCookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		http.Redirect(w, r, "/", http.StatusSeeOther) // the token does not stay in the address
		return
	}
	if !p.admits(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_, _ = w.Write(pageText) // a browser that is gone needs none
}

func (p *page) state(w http.ResponseWriter, r *http.Request) {
	if !p.admits(w, r) {
		return
	}
	query := r.URL.Query()
	since, err := strconv.ParseUint(query.Get("since"), 10, 64)
	if err != nil {
		http.Error(w, "since: the number of an event", http.StatusBadRequest)
		return
	}
	text, err := json.Marshal(p.look.state(since, query.Get("object")))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// admits refuses who does not bear the token.
func (p *page) admits(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	cookie, err := r.Cookie(pageCookie)
	if err == nil && p.bears(cookie.Value) {
		return true
	}
	http.Error(w, "open the address that csisim up printed: it carries the token", http.StatusUnauthorized)
	return false
}

func (p *page) bears(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
}
